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

/**
 * Reports whether a pool is inactive. A pool that reports its usage serves its volumes, and only
 * its own device is inactive.
 */
const isAsleep = (pool: LogicalVolume): boolean => !pool.active && isUnknown(pool);

/** Options that activate only a thin pool: permission to run them permits no other activation. */
const ACTIVATE = ['--activate', 'y', '--ignoreactivationskip', '--select', 'lv_attr=~^t'];

/** Activates an inactive pool, which does not report its usage, before anything is made in it. */
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
 * Deactivates the inner devices of an inactive pool before LVM activates it, alone or with a
 * volume. The first thin volume makes LVM take its pool down and up again. If LVM is killed
 * meanwhile, the inner devices stay active without the pool, and block its activation. Otherwise
 * the steps change nothing.
 */
export function clearPool(desired: DesiredLvm, observed: ObservedLvm, pool: string): Step[] {
  const found = poolOf(observed, pool);
  if (found === undefined || !isAsleep(found)) return [];
  return ['tmeta', 'tdata'].map((inner) => deactivateInner(desired, `${pool}_${inner}`));
}

/** Deactivates an inner device, unless a repair has activated the pool's metadata read-only. */
const deactivateInner = (desired: DesiredLvm, inner: string): Step => ({
  ...change(desired, inner, 'deactivate', '--activate', 'n'),
  preconditions: [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_permissions', lvName(desired, inner)],
      // LVM reports the permissions of an inactive volume as unknown.
      expect: { exit: 0, stdout: { has: '', lacks: 'read-only' } },
      ...refuse('ThinPoolUnderRepair', { volume: lvName(desired, inner) }),
    },
  ],
  // Fails where the pool is active after all.
  failureMeansConflict: true,
});

/**
 * Returns the used bytes of a thin pool or thin volume. LVM reports hundredths of a percent, and
 * only for active ones.
 */
export const usedOf = ({ sizeBytes, dataPercent = 0 }: LogicalVolume): bigint =>
  (sizeBytes * BigInt(Math.round(dataPercent * 100))) / 10_000n;

/** Reports whether the usage is unknown: the volume is inactive, or an LVM command is using it. */
export const isUnknown = ({ dataPercent }: LogicalVolume): boolean => dataPercent === undefined;

/** Refuses a thin pool that is suspended, inactive, or unhealthy by lvs(8), Attr. */
export function refuseIll(desired: InGroup, pool: LogicalVolume): Refusal | undefined {
  const known = { pool: lvName(desired, pool.name), group: desired.vgName };
  // Another LVM command may be using the pool.
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

/**
 * Returns a note for a full pool, or one with read-only metadata. Existing data stays readable and
 * writable, so this is no refusal.
 */
export function illnessNote(
  desired: DesiredLvm,
  observed: ObservedLvm,
  own: LogicalVolume,
): string[] {
  const pool = poolOf(observed, own.pool);
  if (pool === undefined || !['D', 'M'].includes(pool.health)) return [];
  const help =
    pool.health === 'D'
      ? `Extend it: lvextend -L +SIZE ${lvName(desired, pool.name)}`
      : 'Repair it: see lvmthin(7)';
  const ill = refuseIll(desired, pool)?.refusal;
  return [`${ill}, so writes that need new blocks fail. ${help}`];
}
