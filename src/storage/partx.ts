import type { Step } from '../nodes/job.ts';

/** Has the kernel know a partition as its table says, also one that is in use and has grown. */
export function tellKernel(number: number, disk: string): Step {
  return {
    name: `have the kernel read partition ${number} of ${disk}`,
    argv: ['partx', '--update', '--nr', String(number), disk],
    preconditions: [],
    // udev may read the table at the same time.
    failureMeansConflict: true,
  };
}

/** The same for every partition of a disk: after its table was written, a kernel may know none of them any more. */
export function tellKernelAll(disk: string): Step {
  return {
    name: `have the kernel read the partitions of ${disk}`,
    argv: ['partx', '--update', disk],
    preconditions: [],
    failureMeansConflict: true,
  };
}
