import type { Step } from '../../src/nodes/job.ts';
import { onlyDisks } from '../../src/storage/lvm/view.ts';
import { plan as planned } from '../../src/storage/plan.ts';
import type { Plan } from '../../src/storage/types.ts';
import { group } from './lvm-input.ts';

const ONLY = onlyDisks(group.disks);
const FLUSH = ['sync', ...group.disks].join(' ');

/**
 * Returns an LVM command without its list of visible disks.
 * @throws Error if the command may see other disks than those of the group
 */
export function withoutDisks(argv: readonly string[]): string[] {
  const names = [
    'lvcreate',
    'lvchange',
    'lvextend',
    'lvremove',
    'lvrename',
    'lvs',
    'vgs',
    'stowage-thin',
    'stowage-lvm-uuid',
  ];
  if (!names.includes((argv[0] === 'sh' ? argv[3] : argv[0]) ?? '')) return [...argv];
  if (!argv.some((word) => word.endsWith(ONLY)))
    throw new Error(`it sees all disks: ${argv.join(' ')}`);
  return argv.flatMap((word, at) => {
    if (word === ONLY || (word === '--config' && argv[at + 1] === ONLY)) return [];
    return [word.endsWith(ONLY) ? word.slice(0, -ONLY.length) : word];
  });
}

/**
 * Removes the lists of visible disks from steps and preconditions, and the steps that flush LVM's
 * writes.
 */
export const stepsWithoutDisks = (steps: readonly Step[]): Step[] =>
  steps
    .filter(({ argv }) => argv.join(' ') !== FLUSH)
    .map((step) => ({
      ...step,
      argv: withoutDisks(step.argv),
      preconditions: step.preconditions.map((precondition) => ({
        ...precondition,
        argv: withoutDisks(precondition.argv),
      })),
    }));

/**
 * Returns the plan of src/storage/plan.ts, with LVM commands checked and shortened by
 * `withoutDisks`.
 */
export function plan(...args: Parameters<typeof planned>): Plan {
  const made = planned(...args);
  return 'refusal' in made ? made : { ...made, steps: stepsWithoutDisks(made.steps) };
}
