import { type Reason, reason } from '../api/reasons.ts';
import type { FailedState } from './job.ts';
import { lastLine } from './public-text.ts';

/** As a shell and sudo end: 126 of what cannot be run, 127 of what is not there. */
const NOT_RUN = [126, 127];

/** Printed by scripts: a program that the node lacks. */
const MISSING = /^stowage-missing ([A-Za-z0-9._+-]{1,64})$/m;

/** ENOSPC, as strerror(3) of glibc and musl has it in the locale C, which programs on nodes run in. */
const NO_SPACE = 'No space left on device';

/**
 * Why a job did not do what it was to do. What programs print is recognized as far as it is listed here; undefined for a
 * refusal of an earlier version, which wrote none. Pure.
 */
export function failureReason(state: FailedState): Reason | undefined {
  switch (state.state) {
    case 'died':
      return reason('JobDied', { step: state.step?.name });
    case 'guarded':
      return state.reason;
    default: {
      const { step, exit, output } = state;
      const [, missing] = MISSING.exec(output) ?? [];
      const [, first] = /^'([^']+)'/.exec(step.command) ?? [];
      // A script that ends so did not find something that it ran.
      const isRun = first !== undefined && first !== 'sh' && NOT_RUN.includes(exit);
      const program = missing ?? (isRun ? first : undefined);
      if (program !== undefined) return reason('ToolMissing', { program, step: step.name });
      const failed = { step: step.name, exit, output: lastLine(output).slice(0, 512) || undefined };
      return output.includes(NO_SPACE)
        ? reason('NoSpaceLeft', failed)
        : reason('StepFailed', failed);
    }
  }
}
