import type { Step } from '../../nodes/job.ts';
import type { DesiredLvm, ObservedLvm } from '../types.ts';
import { change } from './change.ts';
import type { LogicalVolume } from './facts.ts';
import { lvName } from './names.ts';

export const poolOf = (
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  name: string | undefined,
): LogicalVolume | undefined => (name === undefined ? undefined : volumes.find((each) => each.name === name));

/**
 * What goes before an inactive thin pool is activated, as LVM does with a volume of it. The first thin volume of a pool
 * has LVM take the pool down and up again; killed meanwhile it leaves the pool's inner devices active without the pool,
 * which then can't be activated any more. Where they are not, these steps change nothing.
 */
export function clearPool(desired: DesiredLvm, observed: ObservedLvm, pool: string): Step[] {
  const found = poolOf(observed, pool);
  // One that tells how full it is serves its volumes, and only its own device is inactive.
  if (found === undefined || found.active || found.dataPercent !== undefined) return [];
  return ['tmeta', 'tdata'].map((inner) => deactivateInner(desired, `${pool}_${inner}`));
}

/** Whoever repairs a pool has LVM activate its metadata alone, for reading only, and is not disturbed. */
const deactivateInner = (desired: DesiredLvm, inner: string): Step => ({
  ...change(desired, inner, 'deactivate', '--activate', 'n'),
  guards: [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_permissions', lvName(desired, inner)],
      // It is unknown while it is inactive.
      expect: { exit: 0, stdout: { has: '', lacks: 'read-only' } },
      refusal: `${lvName(desired, inner)} is active for reading alone: somebody may be repairing the thin pool`,
    },
  ],
  // Fails where the pool is active after all.
  mayRace: true,
});
