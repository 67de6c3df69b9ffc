import type { Step } from '../../src/nodes/job.ts';
import type { Plan } from '../../src/storage/types.ts';

/** Codes of the reasons for which nothing is done, or for which steps of a plan may not run. */
export const reasonsOf = (planned: Plan): (string | undefined)[] =>
  'refusal' in planned
    ? [planned.reason?.code]
    : planned.steps.flatMap(({ preconditions }) => preconditions.map(({ reason }) => reason?.code));

/** The commands of a plan that write to a device or a volume's file, but not to the records of it, or to what leads to it. */
export function writesTo(steps: readonly Step[]): string[] {
  return steps
    .map(({ argv }) => argv.join(' '))
    .filter(
      (command) =>
        /^(mkfs\S*|wipefs|sgdisk|truncate|fallocate|shred|blkdiscard|rm|mv|cp) /.test(command) ||
        /^dd .*of=/.test(command),
    )
    .filter(
      (command) =>
        !command.includes('/var/lib/stowage/volumes/') &&
        !/^rm -f (-- \/dev\/disk\/|\/run\/udev\/rules\.d\/)/.test(command),
    );
}
