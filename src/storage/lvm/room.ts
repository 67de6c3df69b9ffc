import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import type { ObservedLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { type InGroup, printed } from './lvchange.ts';
import { dmNameOf, lvName } from './names.ts';
import { poolOf } from './pool.ts';

/** Maximum metadata usage (%) of a pool. A pool with full metadata loses writes. */
export const MAX_METADATA = 90;

/** Returns the usage in hundredths of a percent, the precision of LVM's report. */
export const fullnessOf = ({ dataPercent = 100 }: LogicalVolume): bigint =>
  BigInt(Math.round(dataPercent * 100));

/**
 * Returns the maximum usage, in hundredths of a percent, that leaves the needed bytes free. Returns
 * -1 if the pool is too small.
 */
export function fullest({ sizeBytes }: LogicalVolume, needed: bigint): bigint {
  return needed > sizeBytes ? -1n : ((sizeBytes - needed) * 10_000n) / sizeBytes;
}

/**
 * Precondition that the pool is healthy and has room right before the write. LVM itself compares.
 */
function roomPrecondition(desired: InGroup, pool: LogicalVolume, needed: bigint): Precondition {
  const name = lvName(desired, pool.name);
  // LVM compares with more digits than it prints.
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

/** Adds the room precondition to a step; returns a step that writes to no thin pool unchanged. */
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
 * Adds the room precondition and a lock against other jobs that write to the pool. Without the
 * lock, several jobs could check before the first one writes, and each would find room. The locked
 * device exists while a volume of the pool is active.
 */
export function withRoomAlone(...args: Parameters<typeof withRoom>): Step {
  const [desired, , thinPool, , step] = args;
  if (thinPool === undefined) return step;
  const lock = `/dev/mapper/${dmNameOf({ vgName: desired.vgName, name: thinPool })}-tpool`;
  // Another job may hold the lock beyond the lock timeout.
  return { ...withRoom(...args), lock, failureMeansConflict: true };
}
