import type { Step } from './job.ts';

/**
 * Returns a step as the Salt module takes it and `--dry-run=plan` prints it. Both formats keep
 * their names: `guards` for preconditions, `mayRace` for `failureMeansConflict`. Pure.
 */
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
