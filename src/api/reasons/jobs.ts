import type { ReasonEntry } from './types.ts';

/** How jobs on nodes end. */
export const JOBS = {
  AttemptEnded: {
    message: 'attempt {attempt} ended early',
    cause: 'RetryWaiting',
  },
  JobDied: {
    message: 'the job ended without a result[ at the step "{step}"]',
  },
  StepFailed: {
    message: 'the step "{step}" failed with status {exit}[: {output}]',
    cause: 'Failed',
  },
  ToolMissing: {
    message: 'the node has no program {program}, which the step "{step}" takes',
    action: 'Install {program} on the node.',
    cause: 'ToolMissing',
  },
  NoSpaceLeft: {
    message: 'the step "{step}" failed with status {exit}, for want of space[: {output}]',
    action: 'Make room, or create a smaller volume.',
    cause: 'NoSpace',
  },
  StepsRemain: {
    message: 'still to be done: {step}',
  },
  SudoRefused: {
    message:
      "node {node}: sudo does not let user {user} run '{command}' as root without a password[: {said}]",
    action:
      "Allow it in /etc/sudoers.d on the node, with NOPASSWD: 'stowage print sudoers' writes what a node needs. 'sudo -n -l' there, as {user}, lists what is allowed.",
    cause: 'SudoRefused',
  },
} as const satisfies Record<string, ReasonEntry>;
