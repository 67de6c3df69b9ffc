import type { Step } from '../../src/nodes/job.ts';
import type { Plan } from '../../src/storage/types.ts';

/** Returns the reason codes of a refusal, or of the preconditions of a plan. */
export const reasonsOf = (planned: Plan): (string | undefined)[] =>
  'refusal' in planned
    ? [planned.reason?.code]
    : planned.steps.flatMap(({ preconditions }) => preconditions.map(({ reason }) => reason?.code));

/**
 * Returns the commands of a plan that write to a device or a volume's file. Records and links do
 * not count.
 */
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
