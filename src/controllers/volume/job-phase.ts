import type { Job } from '../../nodes/job.ts';
import { describeFailure, stepText, withHint } from '../../nodes/job-text.ts';
import { publicFailure } from '../../nodes/public-text.ts';
import { freeLoopNumber } from '../../storage/loops.ts';
import { plan } from '../../storage/plan.ts';
import { type Progress, readProgress, type Waiting } from '../../storage/populate/progress.ts';
import type { Desired, Observed } from '../../storage/registry.ts';
import { takingOver } from '../../storage/shared-fs/holders.ts';
import type { Operation, Refusal } from '../../storage/types.ts';
import type { Input, Unknown } from './types.ts';

/**
 * Where a job stands that `status.job` names. What matters in the end is never what the job said, but that nothing
 * remains to be done when the node is looked at.
 */
export type JobStep =
  | { is: 'ask' }
  | { is: 'running'; message: string; progress: Progress | Waiting | undefined }
  | { is: 'look' }
  | { is: 'submit'; steps: Job['steps']; loopNumber: number }
  /** The node is as wanted. */
  | { is: 'done'; observed: Observed }
  | { is: 'refused'; message: string; passing: boolean; reason: Refusal['reason'] }
  /** Another attempt may succeed: the job died, or the node changed under it. */
  | { is: 'again'; message: string; told?: string }
  /** `exit`: the status that the program ended with; `told`: the message without commands. */
  | { is: 'failed'; message: string; told: string; exit: number }
  | { is: 'unknown'; why: Unknown };

/** The next thing to do about the job of `status.job`. */
export function jobStep(input: Input, operation: Operation, desired: Desired): JobStep {
  const { job, observation } = input;
  if (job === undefined) return { is: 'ask' };
  if ('unknown' in job) return { is: 'unknown', why: job };
  switch (job.known.state) {
    case 'running':
      return {
        is: 'running',
        message: stepText(job.known),
        progress: readProgress(job.known.output),
      };
    case 'failed':
      return {
        is: 'failed',
        message: describeFailure(job.known),
        told: publicFailure(job.known),
        exit: job.known.exit,
      };
    case 'raced':
    case 'guarded':
    case 'died':
      return { is: 'again', message: describeFailure(job.known), told: publicFailure(job.known) };
    case 'not-found':
    case 'succeeded': {
      if (observation === undefined) return { is: 'look' };
      if ('unknown' in observation) return { is: 'unknown', why: observation };
      const loopNumber = freeLoopNumber(observation.known.loops, input.allotted);
      const planned = plan(
        operation,
        takingOver(desired, input.dead ?? []),
        observation.known,
        loopNumber,
      );
      if ('refusal' in planned) {
        // For good only if it isn't such a job that is in the way: it may run, or have left what was refused.
        if (job.assumed && !planned.passing) return { is: 'ask' };
        return {
          is: 'refused',
          message: withHint(planned.refusal, planned.hint),
          passing: planned.passing ?? false,
          reason: planned.reason,
        };
      }
      if (planned.steps.length === 0) return { is: 'done', observed: observation.known };
      return job.known.state === 'not-found'
        ? { is: 'submit', steps: planned.steps, loopNumber }
        : { is: 'again', message: `still to be done: ${planned.steps[0]?.name}` };
    }
  }
}
