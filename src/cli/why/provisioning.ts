import { READY_REASON } from '../../api/names.ts';
import { readReason } from '../../api/reasons.ts';
import { dueAt } from '../../controllers/volume/job-retry.ts';
import { parseJobName } from '../../model/job-name.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
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
      holdup: ready.message || 'the storage that it adopts is another Volume’s',
      ...sinceOf(ready),
      next: { when: 'once that is so no more; it is looked at again every 5 min at least' },
    };
  }
  if (ready?.status !== 'Unknown') return undefined;
  const since = sinceOf(ready);
  const silent = now - Date.parse(ready.lastUpdateTime ?? '') >= SILENCE;
  const fix = silent
    ? {
        fix: {
          say: 'Nothing was reported for long. See that stowage watch runs, and what it logs about this Volume.',
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
      next: { when: 'once that is put right; it is looked at again every 5 min at least' },
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
      holdup: `${job.kind} (attempt ${job.attempt}) ${next === undefined ? 'is under way' : 'waits for its time'} on ${nodeText(volume)}: ${ready.message || 'nothing is reported yet'}`,
      ...since,
      next: next ?? { when: 'when the job has ended' },
      ...fix,
    };
  }
  const made = job?.kind === 'PrepareVolume' && 'absent' in known.pv;
  return {
    cause: made
      ? 'PersistentVolumeMissing'
      : ready.reason === READY_REASON.waitingForSource
        ? 'SourceNotReady'
        : 'JobRunning',
    holdup: made
      ? 'its device is made, and its PersistentVolume is not yet there'
      : ready.message || 'its work is about to begin',
    ...since,
    next: { when: 'within seconds, where a daemon runs' },
    ...fix,
  };
};
