import { parseQuantity } from '../../api/quantity.ts';
import { desiredOf } from '../../model/desired-volume.ts';
import { deviceOf } from '../../storage/device.ts';
import { type Desired, sizeText } from '../../storage/registry.ts';
import { isOnDemand } from './attached.ts';
import { jobStep } from './job-phase.ts';
import { advance, endJob, reasonOfAttempt, report, startAttempt } from './job-retry.ts';
import { observedStatus } from './observed-status.ts';
import { available, unavailable, waiting } from './ready.ts';
import type { Decision, Input } from './types.ts';

export const growsTo = ({ volume: { spec } }: Input): string => `expanding to ${sizeText(spec)}`;

/** Reports whether the requested size exceeds the capacity, a quantity. */
export const isToGrow = (desired: Desired, capacity: string | undefined): boolean =>
  'sizeBytes' in desired && capacity !== undefined && desired.sizeBytes > parseQuantity(capacity);

/** Decides about the job that expands an attached device. */
export function growing(input: Input, attempt: number, now: number): Decision {
  const { volume, observation } = input;
  const desired = desiredOf(volume, undefined, input.node);
  const step = jobStep(input, 'attach', desired);
  const isGone =
    observation !== undefined &&
    'known' in observation &&
    deviceOf(desired, observation.known).device === undefined;
  const wouldAttach =
    step.is === 'submit' || step.is === 'again' || (step.is === 'refused' && step.plan.retryable);
  if (isGone && wouldAttach) return stopGrowing(input, now);
  const next = advance(input, step, attempt, now);
  if (next !== undefined) return next;
  const usable = (...notes: string[]) => available(input, [[growsTo(input), ...notes].join(': ')]);
  switch (step.is) {
    case 'running':
      return report(volume, now, undefined, usable(step.message), { watch: true });
    case 'done': {
      const found = observedStatus(input, step.plan.observed, desired);
      return endJob(input, 'GrowVolume', now, available(input), found);
    }
    case 'refused':
      return report(volume, now, 'Failed', unavailable(step.message, step.reason), { retry: true });
    case 'again':
    case 'failed':
      // A volume that failed to expand is as usable as before.
      return startAttempt(volume, now, 'GrowVolume', attempt + 1, undefined, {
        ...usable(`attempt ${attempt}: ${step.message}`),
        detail: reasonOfAttempt(attempt, step.reason),
        publicMessage:
          step.publicMessage && usable(`attempt ${attempt}: ${step.publicMessage}`).message,
      });
    default:
      return {};
  }
}

/** Ends the expansion of a detached device: it expands once attached again. */
export function stopGrowing(input: Input, now: number): Decision {
  const ready = isOnDemand(input.volume) ? available(input) : waiting(input, now);
  return endJob(input, 'GrowVolume', now, ready);
}
