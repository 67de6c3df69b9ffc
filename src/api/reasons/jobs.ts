import type { ReasonEntry } from './types.ts';

/** Running and ended jobs on nodes. */
export const JOBS = {
  AttemptEnded: {
    message: 'attempt {attempt} ended early',
    cause: 'RetryWaiting',
  },
  RetryRequested: {
    message: 'a user requested a retry',
    cause: 'RetryWaiting',
  },
  JobDied: {
    message: 'the job ended without a result[ at the step "{step}"]',
  },
  JobLost: {
    message: 'the node no longer knows the job',
  },
  StepFailed: {
    message: 'the step "{step}" failed with status {exit}[: {output}]',
    cause: 'Failed',
  },
  JobStepRuns: {
    message: '{step}[: {progress}]',
    cause: 'JobRunning',
    varies: ['progress'],
  },
  ToolMissing: {
    message: 'the node has no program {program}, which the step "{step}" needs',
    action: 'Install {program} on the node.',
    cause: 'ToolMissing',
  },
  NoSpaceLeft: {
    message: 'the step "{step}" failed with status {exit}, since no space is left[: {output}]',
    action: 'Make room, or create a smaller volume.',
    cause: 'NoSpace',
  },
  VolumeTooSmall: {
    message:
      'the step "{step}" failed with status {exit}, since the volume is too small[: {output}]',
    action: 'Make the volume larger.',
    cause: 'Failed',
  },
  StepsRemain: {
    message: 'steps remain, next: {step}',
  },
} as const satisfies Record<string, ReasonEntry>;
