import type { FailedState, JobState } from './job.ts';

/** Lines that scripts print for programs (failure-reason.ts). The next line is for people. */
const MISSING = /^stowage-missing .*\n/m;

/** Why a job did not do what it was to do, for a person. */
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

/** What a job is at that runs, for a person. */
export const stepText = ({ step }: Extract<JobState, { state: 'running' }>): string =>
  step?.name ?? 'waits for an earlier job of this volume';

export function withHint(message: string, hint: string | undefined): string {
  return hint === undefined || hint === '' ? message : `${message}. ${hint}`;
}

/** Of a script that is handed over whole, its name: what it does is no help, and buries what it said. */
const SCRIPT = /^'sh' '-c' '(?:[^']|'\\'')*' '(stowage-[a-z0-9-]+)' '(?:[^']|'\\'')*'/;

const shortCommand = (command: string): string => command.replace(SCRIPT, '$1');
