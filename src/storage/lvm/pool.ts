import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import type { DesiredLvm, ObservedLvm, Refusal } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { change, type InGroup, sameVolume } from './lvchange.ts';
import { lvName } from './names.ts';

export const poolOf = (
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  name: string | undefined,
): LogicalVolume | undefined =>
  name === undefined ? undefined : volumes.find((each) => each.name === name);

/** One that tells how full it is serves its volumes, and only its own device is inactive. */
const isAsleep = (pool: LogicalVolume): boolean => !pool.active && isUnknown(pool);

/** LVM does it to a thin pool alone: whoever may run this may activate nothing else by it. */
const ACTIVATE = ['--activate', 'y', '--ignoreactivationskip', '--select', 'lv_attr=~^t'];

/** An inactive pool does not tell how full it is, so it is activated before anything is made in it; none where it is. */
export function wakePool(desired: DesiredLvm, observed: ObservedLvm): Step[] {
  const pool = poolOf(observed, desired.thinPool);
  if (pool === undefined || pool.kind !== 't' || pool.suspended || !isAsleep(pool)) return [];
  return [
    ...clearPool(desired, observed, pool.name),
    {
      ...change(desired, pool.name, 'activate', ...ACTIVATE),
      preconditions: [sameVolume(desired, pool)],
    },
  ];
}

/**
 * What goes before an inactive thin pool is activated, as LVM does with a volume of it. The first thin volume of a pool
 * has LVM take the pool down and up again; killed meanwhile it leaves the pool's inner devices active without the pool,
 * which then can't be activated any more. Where they are not, these steps change nothing.
 */
export function clearPool(desired: DesiredLvm, observed: ObservedLvm, pool: string): Step[] {
  const found = poolOf(observed, pool);
  if (found === undefined || !isAsleep(found)) return [];
  return ['tmeta', 'tdata'].map((inner) => deactivateInner(desired, `${pool}_${inner}`));
}

/** Whoever repairs a pool has LVM activate its metadata alone, for reading only, and is not disturbed. */
const deactivateInner = (desired: DesiredLvm, inner: string): Step => ({
  ...change(desired, inner, 'deactivate', '--activate', 'n'),
  preconditions: [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_permissions', lvName(desired, inner)],
      // It is unknown while it is inactive.
      expect: { exit: 0, stdout: { has: '', lacks: 'read-only' } },
      ...refuse('ThinPoolUnderRepair', { volume: lvName(desired, inner) }),
    },
  ],
  // Fails where the pool is active after all.
  failureMeansConflict: true,
});

/** Of a thin pool or a thin volume, in bytes; LVM tells it in hundredths of a percent, and of what is active alone. */
export const usedOf = ({ sizeBytes, dataPercent = 0 }: LogicalVolume): bigint =>
  (sizeBytes * BigInt(Math.round(dataPercent * 100))) / 10_000n;

/** It is inactive, or a command of LVM is at work in it: how full it is cannot be told. */
export const isUnknown = ({ dataPercent }: LogicalVolume): boolean => dataPercent === undefined;

/** lvs(8), Attr, health of a thin pool. */
export function refuseIll(desired: InGroup, pool: LogicalVolume): Refusal | undefined {
  const known = { pool: lvName(desired, pool.name), group: desired.vgName };
  // Another command of LVM may be at work in it.
  if (pool.suspended) return { ...refuse('ThinPoolSuspended', known), retryable: true };
  if (isUnknown(pool)) return { ...refuse('ThinPoolSilent', known), retryable: true };
  switch (pool.health) {
    case 'D':
      return refuse('ThinPoolOutOfSpace', known);
    case 'M':
      return refuse('ThinPoolMetadataReadOnly', known);
    case 'F':
      return refuse('ThinPoolFailed', known);
    case '-':
      return undefined;
    default:
      return refuse('ThinPoolUnwell', { ...known, health: JSON.stringify(pool.health) });
  }
}

/** What a volume holds can be read and changed still where its pool is full, or its metadata read-only: no refusal. */
export function illnessNote(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): string[] {
  const pool = poolOf(observed, own.pool);
  if (pool === undefined || !['D', 'M'].includes(pool.health)) return [];
  const help =
    pool.health === 'D'
      ? `Make it larger: lvextend ${lvName(desired, pool.name)}`
      : 'See lvmthin(7), on repair';
  const ill = refuseIll(desired, pool)?.refusal;
  return [`${ill}, and takes nothing more of what is written. ${help}`];
}
