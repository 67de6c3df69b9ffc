import type { Step } from '../nodes/job.ts';

/**
 * Returns a step that makes the kernel reread a partition from its table, also one that is in use
 * and has grown.
 */
export function rereadPartition(number: number, disk: string): Step {
  return {
    name: `update partition ${number} of ${disk} in the kernel`,
    argv: ['partx', '--update', '--nr', String(number), disk],
    preconditions: [],
    // udev may read the table at the same time.
    failureMeansConflict: true,
  };
}

/**
 * Returns the same step for every partition of a disk: after a write to its table, a kernel may
 * know none of them.
 */
export function rereadPartitions(disk: string): Step {
  return {
    name: `update the partitions of ${disk} in the kernel`,
    argv: ['partx', '--update', disk],
    preconditions: [],
    failureMeansConflict: true,
  };
}
