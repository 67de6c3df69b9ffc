import { type NextStep, nextStep } from '../../nodes/next-step.ts';
import { freeLoopNumber } from '../../storage/loops.ts';
import { plan } from '../../storage/plan.ts';
import type { Desired, Observed } from '../../storage/registry.ts';
import { takingOver } from '../../storage/shared-fs/holders.ts';
import type { Plan, VolumeOperation } from '../../storage/types.ts';
import type { Input, Unknown } from './types.ts';

/** Next step of a job, with a plan for `observed` that attaches under `loopNumber`. */
export type JobStep =
  | NextStep<Plan & { observed: Observed; loopNumber: number }>
  | { is: 'unknown'; why: Unknown };

/** Decides the next step of the job of `status.job`. */
export function jobStep(input: Input, operation: VolumeOperation, desired: Desired): JobStep {
  const { job, observation, allotted, dead = [] } = input;
  if (job !== undefined && 'unknown' in job) return { is: 'unknown', why: job };
  const planFor = (observed: Observed) => {
    const loopNumber = freeLoopNumber(observed.loops, allotted);
    const wanted = takingOver(desired, dead);
    return { ...plan(operation, wanted, observed, loopNumber), observed, loopNumber };
  };
  const isSeen = observation !== undefined && 'known' in observation;
  const step = nextStep(job?.known, isSeen ? planFor(observation.known) : undefined);
  if (step.is === 'observe' && observation !== undefined && 'unknown' in observation)
    return { is: 'unknown', why: observation };
  // Poll before a permanent refusal if the job was only assumed missing: it may run, or have left
  // what was refused.
  return step.is === 'refused' && job?.assumed && !step.plan.retryable ? { is: 'poll' } : step;
}
