import type { Step } from './job.ts';

/** A step as the Salt module takes it and `--dry-run=plan` prints it: names in these are kept. Pure. */
export const stepJson = ({ preconditions, failureMeansConflict, ...step }: Step) => ({
  ...step,
  guards: preconditions.map(({ argv, expect, refusal, reason }) => ({
    argv,
    expect,
    refusal,
    ...(reason && { reason }),
  })),
  ...(failureMeansConflict && { mayRace: true }),
});
