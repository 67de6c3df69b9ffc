import type { PersistentVolume } from '../../api/core.ts';
import { PROTECTION_FINALIZER } from '../../api/names.ts';
import { readReason } from '../../api/reasons.ts';
import type { Condition, Volume } from '../../api/volume.ts';
import { dueAt } from '../../controllers/volume/job-retry.ts';
import { isRecoverable } from '../../controllers/volume/stalled.ts';
import { parseJobName } from '../../model/job-name.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { readyOf } from '../lib/objects/volume-progress.ts';
import { foundIn } from '../lib/read-result.ts';
import type { Blocker, VolumeFacts } from './types.ts';

export const isDeleting = ({ metadata }: Volume): boolean =>
  metadata.deletionTimestamp !== undefined;

export const isOurs = ({ metadata }: Volume): boolean =>
  metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false;

/** Returns the PersistentVolume if it is the Volume's own. */
export function ownPv({ volume, pv }: VolumeFacts): PersistentVolume | undefined {
  const found = foundIn(pv);
  return found !== undefined && isPvOf(found, volume) ? found : undefined;
}

export const nodeText = (volume: Volume): string => `node ${nodeOf(volume)}`;

/** Returns since when the Ready condition has its status, or, for Unknown, its current message. */
export function sinceOf({
  status,
  lastTransitionTime,
  lastUpdateTime,
}: Condition): Pick<Blocker, 'since'> {
  const since =
    status === 'Unknown'
      ? (lastUpdateTime ?? lastTransitionTime)
      : (lastTransitionTime ?? lastUpdateTime);
  return since === undefined ? {} : { since };
}

/** Returns when a waiting attempt is due: only then the reason is that of the previous one. */
export function nextAttempt(volume: Volume, now: number): { at: string } | undefined {
  const job = parseJobName(volume.status?.job);
  if (job?.attempt === undefined) return undefined;
  const detail = readReason(readyOf(volume)?.detail);
  if (detail?.parameters.attempt !== String(job.attempt - 1)) return undefined;
  const due = dueAt(volume, job.attempt, now);
  return due > now ? { at: new Date(due).toISOString() } : undefined;
}

/** Reports whether a Volume is Failed until its spec changes. */
export function isStuck(volume: Volume): boolean {
  const ready = readyOf(volume);
  return !isDeleting(volume) && ready?.status === 'False' && !isRecoverable(ready.reason);
}
