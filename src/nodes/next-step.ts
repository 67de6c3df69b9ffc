import { messageOf, type Reason, reason } from '../api/reasons.ts';
import { failureReason } from './failure-reason.ts';
import type { FailedState, JobState, Probe, Step } from './job.ts';
import { describeFailure, stepText, withHint } from './job-text.ts';
import { publicFailure } from './public-text.ts';

/** `finalProbes`: probes that a job of these steps runs at its end. */
type Steps = { steps: readonly Step[]; finalProbes?: readonly Probe[] };
type Refusal = { refusal: string; hint?: string; reason?: Reason };

/** Remaining steps, none if the node is in the desired state; or why nothing may be done. */
export type JobPlan = Steps | Refusal;

export type NextStep<Plan extends JobPlan = JobPlan> =
  | { is: 'poll' }
  | { is: 'running'; message: string; output: string | undefined }
  /** `exit`: exit status of the program; `publicMessage`: the message without commands. */
  | {
      is: 'failed';
      message: string;
      publicMessage: string;
      exit: number;
      reason: Reason | undefined;
    }
  /** Another attempt may succeed: the job died, or the node changed under it. */
  | { is: 'again'; message: string; publicMessage?: string; reason: Reason | undefined }
  /** Observe the node, and plan. */
  | { is: 'observe' }
  | { is: 'submit'; plan: Extract<Plan, Steps> }
  /** The node is in the desired state. */
  | { is: 'done'; plan: Extract<Plan, Steps> }
  | { is: 'refused'; message: string; reason: Reason | undefined; plan: Extract<Plan, Refusal> };

/**
 * Returns the next action for a job. A job that succeeded, or that the node does not know, is done
 * if no step remains.
 * @param state undefined if the node was not polled yet
 * @param plan undefined if the node was not observed since; unused for a job that runs or failed
 */
export function nextStep<Plan extends JobPlan>(
  state: JobState | undefined,
  plan: Plan | undefined,
): NextStep<Plan> {
  if (state === undefined) return { is: 'poll' };
  switch (state.state) {
    case 'running':
      return { is: 'running', message: stepText(state), output: state.output };
    case 'failed': {
      const { exit } = state;
      return { is: 'failed', ...failure(state), exit };
    }
    case 'raced':
    case 'guarded':
    case 'died':
      return { is: 'again', ...failure(state) };
  }
  if (plan === undefined) return { is: 'observe' };
  if ('refusal' in plan) {
    const refused = plan as Extract<Plan, Refusal>;
    const message = withHint(refused.refusal, refused.hint);
    return { is: 'refused', message, reason: refused.reason, plan: refused };
  }
  const planned = plan as Extract<Plan, Steps>;
  if (planned.steps.length === 0) return { is: 'done', plan: planned };
  return state.state === 'not-found'
    ? { is: 'submit', plan: planned }
    : stillToDo(planned.steps[0]?.name ?? '');
}

const failure = (state: FailedState) => ({
  message: describeFailure(state),
  publicMessage: publicFailure(state),
  reason: failureReason(state),
});

function stillToDo(step: string): Extract<NextStep, { is: 'again' }> {
  const why = reason('StepsRemain', { step });
  return { is: 'again', message: messageOf(why) ?? '', reason: why };
}
