import type { Step } from '../../nodes/job.ts';
import type { DesiredLvm, ObservedLvm } from '../types.ts';
import { lvName } from './names.ts';

/**
 * What goes before an inactive thin pool is activated, as LVM does with a volume of it. The first thin volume of a pool
 * has LVM take the pool down and up again; killed meanwhile it leaves the pool's inner devices active without the pool,
 * which then can't be activated any more. Where they are not, these steps change nothing; where the pool is active after
 * all, they fail.
 */
export function clearPool(desired: DesiredLvm, { volumes }: ObservedLvm, pool: string): Step[] {
  const found = volumes.find(({ name }) => name === pool);
  return found === undefined || found.active
    ? []
    : ['tmeta', 'tdata'].map((inner) => deactivateInner(desired, `${pool}_${inner}`));
}

/** Whoever repairs a pool has LVM activate its metadata alone, for reading only, and is not disturbed. */
const deactivateInner = (desired: DesiredLvm, inner: string): Step => ({
  name: `deactivate ${lvName(desired, inner)}`,
  argv: ['lvchange', '--activate', 'n', lvName(desired, inner)],
  guards: [
    {
      argv: ['lvs', '--noheadings', '-o', 'lv_permissions', lvName(desired, inner)],
      expect: { exit: 0, stdout: { is: '  writeable' } },
      refusal: `${lvName(desired, inner)} is active for reading alone: somebody may be repairing the thin pool`,
    },
  ],
  mayRace: true,
});
