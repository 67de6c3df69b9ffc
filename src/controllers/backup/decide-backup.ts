import { type Backup, backupTarget } from '../../api/builtins/backup.ts';
import { BACKUP_EVENT, BACKUP_FINALIZER, DRIVER, FORGET_NODE_ANNOTATION } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { type Explanation, explain, readReason, reason } from '../../api/reasons.ts';
import { parseHandle } from '../../api/snapshot-handle.ts';
import { RETRY } from '../../model/retry.ts';
import { withHint } from '../../nodes/job-text.ts';
import { backoffMs } from '../../workqueue/backoff.ts';
import { keyOf } from '../lib/event-key.ts';
import type {
  BackupAction,
  BackupDecision,
  BackupInput,
  BackupJob,
  FileHandle,
  StatusFields,
} from './types.ts';

const idle: BackupDecision = {};

/** Returns the name of the VolumeSnapshot to pack: the one that the Backup names, or its own. */
export const snapshotNameOf = ({ metadata, spec }: Backup): string =>
  spec.snapshotName ?? `backup-${metadata.uid}`;

/** Decides the next step for a Backup. Pure. `now` is in ms since the epoch. */
export function decideBackup(input: BackupInput, now: number): BackupDecision {
  const { backup } = input;
  const { metadata, status } = backup;
  const isOurs = metadata.finalizers?.includes(BACKUP_FINALIZER) ?? false;
  if (metadata.deletionTimestamp !== undefined) return isOurs ? end(input) : idle;
  if (status?.phase === 'Completed' || status?.phase === 'Failed') return tidy(input) ?? idle;
  if (!isOurs) return { action: { do: 'add-finalizer' } };
  const target = backupTarget(backup);
  if ('message' in target) return fail(target);
  const job = jobOf(backup);
  return job === undefined ? begin(input, now) : goOn(input, job, now);
}

function begin(input: BackupInput, now: number): BackupDecision {
  const found = source(input);
  if ('action' in found && input.outcome?.is === 'unknown') {
    return { ...wait(input, input.outcome), retry: true };
  }
  if (!('handle' in found)) return without(input, found);
  const node = nodeFor(input, found.handle);
  if (!input.nodeFacts(node).ours) return idle;
  const paused = whyPaused(input, node);
  return paused === undefined ? next(input, { node, attempt: 1 }, now, found) : wait(input, paused);
}

/**
 * Continues a recorded job. Its result counts even if the snapshot is gone;
 * another job needs the snapshot.
 */
function goOn(input: BackupInput, job: BackupJob, now: number): BackupDecision {
  const { backup, outcome, nodeFacts } = input;
  const { node, attempt } = job;
  if (!nodeFacts(node).ours) return idle;
  const found = source(input);
  const paused = whyPaused(input, node);
  switch (outcome?.is) {
    case undefined:
      return 'handle' in found && paused === undefined
        ? { action: { do: 'run', job, handle: found.handle, mode: found.mode } }
        : { action: { do: 'observe', job } };
    case 'running':
      return whileRunning(input, job, outcome.waits);
    case 'made':
      return completed(outcome, now);
    case 'none':
      if (paused !== undefined) return wait(input, paused);
      return 'handle' in found ? { retry: true } : without(input, found);
    case 'failed': {
      if (outcome.forGood || attempt >= RETRY.maxTransfers) return fail(outcome);
      // Report one obstacle at a time: alternating messages would rewrite the status forever.
      if (paused !== undefined) return wait(input, paused);
      if (!('handle' in found)) return without(input, found);
      const decision = wait(input, outcome);
      if (decision.action !== undefined) return decision;
      const started = startedAt(backup);
      const due = started + backoffMs(attempt - 1, 0, RETRY.betweenTransfers) - now;
      // A start in the future is by a clock that was set back, or another machine's.
      return due > 0 && started <= now
        ? { requeueAfter: due }
        : next(input, { node, attempt: attempt + 1 }, now, found);
    }
    case 'unknown':
      return unknown(input, outcome);
    // Only a deletion removes what a job left: decide again.
    case 'left':
      return { retry: true };
  }
}

/** Reports what a running job waits for, and clears that message once the job proceeds. */
function whileRunning(
  input: BackupInput,
  job: BackupJob,
  waits: Explanation | undefined,
): BackupDecision {
  if (waits !== undefined) {
    const decision = wait(input, waits);
    if (decision.action !== undefined) return decision;
  } else if (input.backup.status?.message != null) {
    return { action: { do: 'set-status', fields: NO_MESSAGE } };
  }
  return { watch: job, requeueAfter: RETRY.recheckSoon };
}

/** Decides while there is no snapshot to pack. */
function without(
  input: BackupInput,
  found: Exclude<Found, { handle: FileHandle }>,
): BackupDecision {
  if ('action' in found) return found;
  return 'wait' in found ? wait(input, found.wait) : fail(found.problem);
}

function whyPaused({ backup, nodeFacts }: BackupInput, node: string): Explanation | undefined {
  if (isPaused(backup)) return explain('BackupPaused', { backup: backup.metadata.name });
  return nodeFacts(node).paused ? explain('SnapshotNodePaused', { node }) : undefined;
}

/**
 * Retries with backoff. The output of ssh varies per attempt, and each status write would trigger
 * another attempt at once.
 */
function unknown(input: BackupInput, why: Explanation): BackupDecision {
  const reported = readReason(input.backup.status?.detail);
  const isReported = reported !== undefined && why.detail && keyOf(why.detail) === keyOf(reported);
  return { ...(isReported ? idle : wait(input, why)), retry: true };
}

const startedAt = ({ status }: Backup): number => Date.parse(status?.startedAt ?? '') || 0;

/** Returns the last recorded job; undefined if there is none. */
export function jobOf({ status }: Backup): BackupJob | undefined {
  const { node, attempt = 0 } = status ?? {};
  return node !== undefined && node !== '' && attempt > 0 ? { node, attempt } : undefined;
}

type Found =
  | { handle: FileHandle; mode: 'Filesystem' | 'Block'; restoreSize: number | undefined }
  | { wait: Explanation }
  | { problem: Explanation }
  | { action: BackupAction };

/** Returns the copy to pack, or why there is none. */
function source({ backup, snapshot, content, hasSnapshots }: BackupInput): Found {
  if (!hasSnapshots) return { wait: explain('SnapshotKindsMissing') };
  const { namespace } = backup.metadata;
  const name = snapshotNameOf(backup);
  const isOwn = backup.spec.snapshotName === undefined;
  const what = { snapshot: `${namespace}/${name}` };
  if (snapshot === undefined) {
    return isOwn
      ? { action: { do: 'create-snapshot', name } }
      : { wait: explain('SnapshotMissing', what) };
  }
  if (isOwn && !isOf(snapshot, backup)) return { problem: explain('BackupSnapshotForeign', what) };
  if (snapshot.metadata.deletionTimestamp !== undefined)
    return { problem: explain('BackupSnapshotBeingDeleted', what) };
  const { readyToUse, error } = snapshot.status ?? {};
  if (!readyToUse) {
    const message = error?.message || undefined;
    return { wait: explain('BackupSnapshotNotReady', { ...what, said: message }) };
  }
  if (content === undefined || content.spec.volumeSnapshotRef.uid !== snapshot.metadata.uid)
    return { wait: explain('BackupContentUnknown', what) };
  const { driver } = content.spec;
  if (driver !== DRIVER) return { problem: explain('BackupDriverForeign', { ...what, driver }) };
  const handle = parseHandle(
    content.status?.snapshotHandle ?? content.spec.source.snapshotHandle ?? '',
  );
  if ('problem' in handle) {
    const message = `VolumeSnapshot ${what.snapshot}: ${handle.problem}`;
    return { problem: { message, detail: reason('BackupHandleInvalid', what) } };
  }
  if (handle.type !== 'file') return { problem: explain('BackupSnapshotThin', what) };
  const mode = content.spec.sourceVolumeMode === 'Block' ? 'Block' : 'Filesystem';
  return { handle, mode, restoreSize: content.status?.restoreSize };
}

/** Chooses a Ready node among those that reach the copy. */
function nodeFor({ nodeFacts }: BackupInput, { nodes }: FileHandle): string {
  return (
    nodes.find((node) => nodeFacts(node).ready && !nodeFacts(node).off) ?? (nodes[0] as string)
  );
}

const isOf = (
  snapshot: { metadata: { ownerReferences?: { uid: string }[] } },
  backup: Backup,
): boolean =>
  snapshot.metadata.ownerReferences?.some(({ uid }) => uid === backup.metadata.uid) ?? false;

/** Returns the action that deletes the Backup's own snapshot; undefined if there is none. */
function tidy({ backup, snapshot }: BackupInput): BackupDecision | undefined {
  const goes =
    backup.spec.snapshotName === undefined &&
    snapshot !== undefined &&
    isOf(snapshot, backup) &&
    snapshot.metadata.deletionTimestamp === undefined;
  return goes ? { action: { do: 'delete-snapshot', snapshot } } : undefined;
}

/**
 * Decides about a deleted Backup: cleans up its node, its own snapshot, and its finalizer. Skips a
 * node whose Node object is gone, or that an annotation declares lost.
 */
function end(input: BackupInput): BackupDecision {
  const { metadata } = input.backup;
  const job = jobOf(input.backup);
  const isForgotten = metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid;
  if (job !== undefined && !isForgotten && input.nodeFacts(job.node).exists) {
    const { outcome } = input;
    if (!input.nodeFacts(job.node).ours) return idle;
    switch (outcome?.is) {
      case undefined: {
        const paused = whyPaused(input, job.node);
        return paused === undefined
          ? { action: { do: 'leave', job } }
          : wait(input, { ...paused, message: `${paused.message}; the deletion waits` });
      }
      case 'running':
        return { watch: job };
      case 'left':
        break;
      case 'unknown': {
        const { namespace, name, uid } = metadata;
        const annotate = `kubectl annotate backup -n ${namespace} ${name} ${FORGET_NODE_ANNOTATION}=${uid}`;
        const next = `The deletion waits for the node. If it never comes back: ${annotate}`;
        const message = withHint(outcome.message, next);
        return unknown(input, { message, detail: outcome.detail });
      }
      default:
        return { retry: true };
    }
  }
  return tidy(input) ?? { action: { do: 'release' } };
}

function next(
  { backup }: BackupInput,
  { node, attempt }: BackupJob,
  now: number,
  { mode, restoreSize }: Extract<Found, { mode: string }>,
): BackupDecision {
  const fields: StatusFields = {
    ...{ phase: 'Running', node, attempt, startedAt: timeOf(now), volumeMode: mode },
    ...(restoreSize === undefined ? {} : { restoreSize }),
    ...(backup.status?.message == null ? {} : NO_MESSAGE),
  };
  return { action: { do: 'set-status', fields } };
}

function completed(
  { bytes, sha256 }: { bytes: number; sha256: string },
  now: number,
): BackupDecision {
  const fields: StatusFields = {
    ...{ phase: 'Completed', bytes, sha256, finishedAt: timeOf(now), ...NO_MESSAGE },
  };
  return {
    action: {
      do: 'set-status',
      fields,
      event: {
        type: 'Normal',
        reason: BACKUP_EVENT.completed,
        ...explain('BackupMade', { bytes }),
      },
    },
  };
}

const NO_MESSAGE = { message: null, detail: null };

function fail({ message, detail }: Explanation): BackupDecision {
  const event = { type: 'Warning', reason: BACKUP_EVENT.failed, message, detail } as const;
  const fields: StatusFields = { phase: 'Failed', message, detail: detail ?? null };
  return { action: { do: 'set-status', fields, event } };
}

/** Reports an obstacle once. A change of the obstacle triggers a reconcile. */
function wait(
  { backup: { status } }: BackupInput,
  { message, detail }: Explanation,
): BackupDecision {
  if (status?.message === message) return idle;
  const event = { type: 'Warning', reason: BACKUP_EVENT.waiting, message, detail } as const;
  const phase = status?.phase ?? 'Pending';
  const fields: StatusFields = { phase, message, detail: detail ?? null };
  return { action: { do: 'set-status', fields, event } };
}

/** Formats a metav1.Time, in whole seconds. */
const timeOf = (now: number): string => new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
