import type { FailedState, JobState } from './job.ts';

/** Line that scripts print for programs (failure-reason.ts). The next line is for users. */
const MISSING = /^stowage-missing .*\n/m;

/** Describes for users why a job did not complete. */
export function describeFailure(state: FailedState): string {
  switch (state.state) {
    case 'died':
      return state.step === undefined
        ? 'the job ended without a result before its first step'
        : `the job ended without a result at the step "${state.step.name}"`;
    case 'guarded':
      return `${state.refusal} (before the step "${state.step.name}")`;
    case 'failed':
    case 'raced':
      return `the step "${state.step.name}" failed with status ${state.exit}: ${shortCommand(state.step.command)}: ${state.output.replace(MISSING, '').trim() || 'it printed nothing'}`;
  }
}

/** Returns the present step of a running job, for users. */
export const stepText = ({ step }: Extract<JobState, { state: 'running' }>): string =>
  step?.name ?? 'waiting for an earlier job of this volume';

/** Appends a sentence to a message, which may end with a sentence and its full stop already. */
export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined || hint === '' ? message : `${message.replace(/\.$/, '')}. ${hint}`;
}

/**
 * Command of a script that is passed as a whole. Only its name is shown: the text would bury its
 * output.
 */
const SCRIPT = /^'sh' '-c' '(?:[^']|'\\'')*' '(stowage-[a-z0-9-]+)' '(?:[^']|'\\'')*'/;

const shortCommand = (command: string): string => command.replace(SCRIPT, '$1');
