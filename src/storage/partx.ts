import type { Step } from '../nodes/job.ts';

/** Has the kernel know a partition as its table says, also one that is in use and has grown. */
export function tellKernel(number: number, disk: string): Step {
  return {
    name: `have the kernel read partition ${number} of ${disk}`,
    argv: ['partx', '--update', '--nr', String(number), disk],
    guards: [],
    // udev may read the table at the same time.
    mayRace: true,
  };
}
