import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import type { ObservedLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { type InGroup, printed } from './lvchange.ts';
import { dmNameOf, lvName } from './names.ts';
import { poolOf } from './pool.ts';

/** In percent. A pool whose metadata are full loses what is written. */
export const MAX_METADATA = 90;

/** In hundredths of a percent, in which LVM tells it. */
export const fullnessOf = ({ dataPercent = 100 }: LogicalVolume): bigint =>
  BigInt(Math.round(dataPercent * 100));

/** How full a thin pool may be at most that has that many bytes left, in the same. Below 0 where it never has. */
export function fullest({ sizeBytes }: LogicalVolume, needed: bigint): bigint {
  return needed > sizeBytes ? -1n : ((sizeBytes - needed) * 10_000n) / sizeBytes;
}

/** It has room right before it is written to, whoever took some since it was looked at, and is well. LVM compares. */
function roomPrecondition(desired: InGroup, pool: LogicalVolume, needed: bigint): Precondition {
  const name = lvName(desired, pool.name);
  // LVM knows it better than it tells.
  const above = Math.min(Number(fullest(pool, needed) + 1n), 10_000) / 100;
  return {
    argv: [
      ...['lvs', '--noheadings', '-o', 'lv_uuid', '--select'],
      `lv_uuid=${pool.uuid}&&data_percent<${above.toFixed(2)}&&metadata_percent<${MAX_METADATA}&&lv_attr=~^t.......-`,
      name,
    ],
    expect: { exit: 0, stdout: printed(pool.uuid) },
    ...refuse('ThinPoolRoomGone', { pool: name, needed }),
  };
}

/** The step with that precondition; as it is where it writes nothing to a thin pool. */
export function withRoom(
  desired: InGroup,
  observed: Pick<ObservedLvm, 'volumes'>,
  thinPool: string | undefined,
  needed: bigint,
  step: Step,
): Step {
  const pool = poolOf(observed, thinPool);
  return pool === undefined || needed === 0n
    ? step
    : { ...step, preconditions: [roomPrecondition(desired, pool, needed), ...step.preconditions] };
}

/**
 * The same, and no other job writes to the pool meanwhile: of several that all look first, and then write, each would
 * find room. The lock is on the device that the pool's volumes are made of, which is there while one of them is active.
 */
export function withRoomAlone(...args: Parameters<typeof withRoom>): Step {
  const [desired, , thinPool, , step] = args;
  if (thinPool === undefined) return step;
  const lock = `/dev/mapper/${dmNameOf({ vgName: desired.vgName, name: thinPool })}-tpool`;
  // Others may hold it for longer than is waited.
  return { ...withRoom(...args), lock, failureMeansConflict: true };
}
