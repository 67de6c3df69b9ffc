import { isDnsSubdomain } from '../../api/dns-name.ts';
import { SNAPSHOT_ATTEMPT_LABEL, SNAPSHOT_JOB_ANNOTATION } from '../../api/names.ts';
import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { formatHandle, parseHandle, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { RETRY } from '../../model/retry.ts';
import type { JobKey } from '../../nodes/job.ts';
import { backoffMs } from '../../workqueue/backoff.ts';

/** What was or is to be done on a node for a content, by which job. */
export interface JobNote {
  do: 'take' | 'delete';
  /** The UID of the Volume, which all work on it and on its snapshots has as its subject. */
  volume: string;
  node: string;
  handle: SnapshotHandle;
  /** Counts the jobs of the content, from 1. */
  attempt: number;
  /** Counts those that do the same. */
  tries: number;
  /** When it was written, ms since the epoch. */
  at: number;
}

const UID = /^[0-9a-f][0-9a-f-]{0,63}$/;

/** What `formatNote` wrote into the content; undefined where there is nothing, or something that nobody can go by. */
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

/** Writes the note into the content, and in a second place that there is one. */
export const noteMetadata = (note: JobNote) => ({
  annotations: { [SNAPSHOT_JOB_ANNOTATION]: formatNote(note) },
  labels: { [SNAPSHOT_ATTEMPT_LABEL]: String(note.attempt) },
});

/** A content that was copied from another cluster has its note, too: that copy is not its own. */
export const isOwn = ({ metadata }: VolumeSnapshotContent, { handle }: JobNote): boolean =>
  formatHandle(handle).endsWith(metadata.uid ?? ' ');

/** How many jobs were named for a content that has lost the note of the last one; undefined where it has not. */
export function lostAttempt(content: VolumeSnapshotContent): number | undefined {
  if (noteOf(content) !== undefined) return undefined;
  const attempt = Number(content.metadata.labels?.[SNAPSHOT_ATTEMPT_LABEL]);
  return isCount(attempt) ? attempt : undefined;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** The next one, written `now`. */
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

/** When the job may be submitted: the first at once, each later one after a longer wait. ms since the epoch. */
export function dueAt({ tries, at }: JobNote, now: number): number {
  // A time to come is of another clock than ours.
  return tries <= 1 || at > now ? 0 : at + backoffMs(tries - 2, 0, RETRY.betweenJobs);
}
