import { READY_REASON } from '../../api/names.ts';
import { readReason } from '../../api/reasons.ts';
import { dueAt } from '../../controllers/volume/job-retry.ts';
import { parseJobName } from '../../model/job-name.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { obstructionOf, sentenceOf } from './obstruction.ts';
import { nextAttempt, nodeText, sinceOf } from './state.ts';
import type { Cause } from './types.ts';

/** Time (ms) without a report after which the fix suggests a check of the daemon. */
const SILENCE = 10 * 60_000;

/** Reports a Volume that is being provisioned, or attached again. */
export const making: Cause = (known, now) => {
  const { volume } = known;
  const ready = readyOf(volume);
  if (ready?.reason === READY_REASON.adoptionRefused) {
    return {
      cause: 'DeviceOfAnother',
      holdup: ready.message || 'the storage to adopt belongs to another Volume',
      ...sinceOf(ready),
      next: { when: 'when that changes (checked at least every 5 min)' },
    };
  }
  if (ready?.status !== 'Unknown') return undefined;
  const since = sinceOf(ready);
  const silent = now - Date.parse(ready.lastUpdateTime ?? '') >= SILENCE;
  const fix = silent
    ? {
        fix: {
          say: 'Check that stowage watch runs, and its log for this Volume: no progress was reported for 10 min or more.',
        },
      }
    : {};
  const job = parseJobName(volume.status?.job);
  const next = nextAttempt(volume, now);
  // A job is named, but not started: the daemon reports nothing new meanwhile.
  const source = ready.reason === READY_REASON.waitingForSource ? ready.message : undefined;
  if (job?.attempt !== undefined && next === undefined && source) {
    return {
      cause: 'SourceNotReady',
      holdup: source,
      ...since,
      next: { when: 'when that changes (checked at least every 5 min)' },
    };
  }
  // An earlier version reports in the message only whether the attempt runs, or waits.
  if (job?.attempt !== undefined && job.attempt > 1 && ready.message && !ready.detail) {
    const due = dueAt(volume, job.attempt, now);
    return {
      cause: 'UnknownReason',
      holdup: ready.message,
      ...since,
      next: due > now ? { at: new Date(due).toISOString() } : { when: 'when the job has ended' },
      ...fix,
    };
  }
  if (job?.attempt !== undefined) {
    return {
      cause: next === undefined ? 'JobRunning' : 'RetryWaiting',
      reason: readReason(ready.detail),
      holdup: `${job.kind} (attempt ${job.attempt}) ${next === undefined ? 'is running' : 'waits for its next attempt'} on ${nodeText(volume)}: ${ready.message || 'no progress is reported yet'}`,
      ...since,
      next: next ?? { when: 'when the job has ended' },
      ...fix,
    };
  }
  const made = job?.kind === 'PrepareVolume' && 'absent' in known.pv;
  const found = made ? obstructionOf(ready.detail, { node: nodeOf(volume), volume }) : undefined;
  if (found?.cause !== undefined) {
    return {
      ...{ cause: found.cause, reason: found.reason, ...since },
      holdup: `its device is provisioned, but it has no PersistentVolume: ${sentenceOf(ready.message ?? '', found, found.fix)}`,
      next: { when: 'when that changes (checked at least every 30 s)' },
      ...(found.fix && { fix: found.fix }),
    };
  }
  return {
    cause: made
      ? 'PersistentVolumeMissing'
      : ready.reason === READY_REASON.waitingForSource
        ? 'SourceNotReady'
        : 'JobRunning',
    holdup: made
      ? 'its device is provisioned, but its PersistentVolume does not exist yet'
      : ready.message || 'its next job is about to start',
    ...since,
    next: { when: 'within seconds, if a daemon runs' },
    ...fix,
  };
};
