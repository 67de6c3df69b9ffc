import { READY_REASON } from '../../api/names.ts';
import { explain, type Reason, type ReasonCode, reason } from '../../api/reasons.ts';
import type { Volume, VolumeStatus } from '../../api/volume.ts';
import { doneName, type JobKind, jobName } from '../../model/job-name.ts';
import { isRecent, RETRY } from '../../model/retry.ts';
import { backoffMs } from '../../workqueue/backoff.ts';
import type { JobStep } from './job-phase.ts';
import { isRetryRequested, type Ready, readyOf, type StatusFields, setStatus } from './status.ts';
import type { Decision, Input, Unknown } from './types.ts';

/**
 * Names a job in the status before it is submitted, so that another process knows what may be on
 * the node.
 */
export function startAttempt(
  volume: Volume,
  now: number,
  kind: JobKind,
  attempt: number,
  phase: VolumeStatus['phase'],
  ready: Ready,
): Decision {
  return report(volume, now, phase, ready, {}, { job: jobName(kind, attempt), attempt });
}

/** Submits the steps of an attempt when it is due: the first at once, later ones with backoff. */
export function submitWhenDue(
  volume: Volume,
  now: number,
  attempt: number,
  step: Extract<JobStep, { is: 'submit' }>,
): Decision {
  const due = dueAt(volume, attempt, now);
  return now < due
    ? { requeueAfter: due - now }
    : { action: { do: 'submit', steps: step.plan.steps, loopNumber: step.plan.loopNumber } };
}

/**
 * Returns the reason for which an attempt ended, with its number: the status already names the next
 * attempt.
 */
export const reasonOfAttempt = (attempt: number, why: Reason | undefined): Reason => {
  const ended = reason('AttemptEnded', { attempt });
  return why === undefined
    ? ended
    : { ...why, parameters: { ...why.parameters, ...ended.parameters } };
};

/**
 * Returns when an attempt may be submitted, ms since the epoch, by the time at which the status
 * named it.
 */
export function dueAt(volume: Volume, attempt: number, now: number): number {
  const { lastUpdateTime = '', detail } = readyOf(volume) ?? {};
  const written = Date.parse(lastUpdateTime);
  const requested: ReasonCode = 'RetryRequested';
  const isRequested = isRetryRequested(volume) || detail?.code === requested;
  // A time in the future comes from another clock: ignore it.
  return attempt <= 1 || Number.isNaN(written) || written > now || isRequested
    ? 0
    : written + backoffMs(attempt - 2, 0, RETRY.betweenJobs);
}

/**
 * Handles the steps common to all jobs: poll, observe, submit. Returns undefined if the caller must
 * judge the job's end.
 */
export function advance(
  input: Input,
  step: JobStep,
  attempt: number,
  now: number,
): Decision | undefined {
  switch (step.is) {
    case 'poll':
      return { action: { do: 'poll' } };
    case 'observe':
      return { action: { do: 'observe' } };
    case 'submit':
      return submitWhenDue(input.volume, now, attempt, step);
    case 'unknown':
      return unreachable(input.volume, now, step.why);
    default:
      return undefined;
  }
}

/**
 * Waits for the end of the job of `status.job`, successful or not. Returns undefined once it has
 * ended.
 */
export function untilJobEnds(
  { volume, job }: Input,
  now: number,
  ready: Ready,
): Decision | undefined {
  if (job === undefined) return { action: { do: 'poll' } };
  if ('unknown' in job) return unreachable(volume, now, job);
  if (job.known.state !== 'running') return undefined;
  const why = explain('EarlierJobRuns', { job: volume.status?.job ?? '' });
  return report(volume, now, undefined, { ...ready, ...why }, { watch: true });
}

/** Removes the node's jobs of this Volume. Returns undefined once they are removed. */
function forget({ volume, forgotten }: Input, now: number): Decision | undefined {
  if (forgotten === undefined) return { action: { do: 'forget-jobs' } };
  if (forgotten) return undefined;
  const ready: Ready = {
    status: 'Unknown',
    reason: READY_REASON.nodeUnclear,
    ...explain('OtherJobRuns'),
  };
  return report(volume, now, undefined, ready, { retry: true });
}

/**
 * Reports that the node does not answer; the phase stays. A recent message is kept: ssh's text
 * varies per attempt, and requeueing on our own writes would loop.
 */
export function unreachable(
  volume: Volume,
  now: number,
  { unknown, reason, detail }: Unknown,
): Decision {
  const old = readyOf(volume);
  const stands =
    old?.status === 'Unknown' &&
    old.reason === reason &&
    isRecent(old.lastUpdateTime, now, RETRY.sameMessage);
  return stands
    ? { retry: true }
    : report(
        volume,
        now,
        undefined,
        { status: 'Unknown', reason, message: unknown, detail },
        { retry: true },
      );
}

/** Writes a condition and fields if they differ, else returns `otherwise`. */
export function report(
  volume: Volume,
  now: number,
  phase: VolumeStatus['phase'],
  ready: Ready,
  otherwise: Decision,
  fields: StatusFields = {},
): Decision {
  const action = setStatus(volume, now, phase, ready, fields);
  return action === undefined ? otherwise : { action };
}

/**
 * Marks the job of that kind as done, once the node has no job of the Volume left. `fields`: other
 * results to write.
 */
export function endJob(
  input: Input,
  kind: JobKind,
  now: number,
  ready: Ready,
  fields: StatusFields = {},
  phase: VolumeStatus['phase'] = ready.status === 'True' ? 'Available' : undefined,
): Decision {
  const done = { ...fields, job: doneName(kind) };
  return forget(input, now) ?? report(input.volume, now, phase, ready, {}, done);
}
