import { isDnsSubdomain } from '../../api/dns-name.ts';
import { SNAPSHOT_ATTEMPT_LABEL, SNAPSHOT_JOB_ANNOTATION } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { formatHandle, parseHandle, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { RETRY } from '../../model/retry.ts';
import type { JobKey } from '../../nodes/job.ts';
import { backoffMs } from '../../workqueue/backoff.ts';

/** Record of a content's latest job on a node. */
export interface JobNote {
  do: 'take' | 'delete';
  /**
   * UID of the Volume, the subject of all jobs for it and its snapshots; else the content's UID.
   */
  volume: string;
  node: string;
  handle: SnapshotHandle;
  /** Number of this job among those of the content, from 1. */
  attempt: number;
  /** Number of this job among consecutive ones of the same kind, from 1. */
  tries: number;
  /** Time of the record, in ms since the epoch. */
  at: number;
}

const UID = /^[0-9a-f][0-9a-f-]{0,63}$/;

/** Returns the record that `formatNote` wrote; undefined if none exists or it is invalid. */
export function noteOf({ metadata }: VolumeSnapshotContent): JobNote | undefined {
  const text = metadata.annotations?.[SNAPSHOT_JOB_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { do: what, volume, node, handle, attempt, tries, at } = JSON.parse(text);
    const parsed = parseHandle(String(handle));
    const sound =
      (what === 'take' || what === 'delete') &&
      UID.test(volume) &&
      typeof node === 'string' &&
      isDnsSubdomain(node) &&
      isCount(attempt) &&
      isCount(tries) &&
      !('problem' in parsed);
    if (!sound) return undefined;
    return { do: what, volume, node, handle: parsed, attempt, tries, at: Date.parse(at) || 0 };
  } catch {
    return undefined;
  }
}

export function formatNote({
  do: what,
  volume,
  node,
  handle,
  attempt,
  tries,
  at,
}: JobNote): string {
  return JSON.stringify({
    ...{ do: what, volume, node, handle: formatHandle(handle), attempt, tries },
    at: new Date(at).toISOString(),
  });
}

/** Returns the annotation with the record, and a label by which its loss is detected. */
export const noteMetadata = (note: JobNote) => ({
  annotations: { [SNAPSHOT_JOB_ANNOTATION]: formatNote(note) },
  labels: { [SNAPSHOT_ATTEMPT_LABEL]: String(note.attempt) },
});

/**
 * Reports whether the recorded copy is the content's own: a content copied from another cluster
 * brings its record along.
 */
export const isOwn = ({ metadata }: VolumeSnapshotContent, { handle }: JobNote): boolean =>
  formatHandle(handle).endsWith(metadata.uid ?? ' ');

/** Returns the number of the last job if its record is lost; undefined otherwise. */
export function lostAttempt(content: VolumeSnapshotContent): number | undefined {
  if (noteOf(content) !== undefined) return undefined;
  const attempt = Number(content.metadata.labels?.[SNAPSHOT_ATTEMPT_LABEL]);
  return isCount(attempt) ? attempt : undefined;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** Returns the record of the next job, dated `now`. */
export function nextNote(
  before: JobNote | undefined,
  wanted: Pick<JobNote, 'do' | 'volume' | 'node' | 'handle'>,
  now: number,
): JobNote {
  const tries = before?.do === wanted.do ? before.tries + 1 : 1;
  return { ...wanted, attempt: (before?.attempt ?? 0) + 1, tries, at: now };
}

export function jobKeyOf(
  { metadata }: VolumeSnapshotContent,
  { volume, attempt }: JobNote,
): JobKey {
  return { subject: volume, id: `snapshot-${metadata.uid}-${attempt}` };
}

/**
 * Returns when the job may be submitted, in ms since the epoch: the first at once, later ones with
 * backoff.
 */
export function dueAt({ tries, at }: JobNote, now: number): number {
  // A time in the future is by another machine's clock.
  return tries <= 1 || at > now ? 0 : at + backoffMs(tries - 2, 0, RETRY.betweenJobs);
}
