import type { VolumeSnapshotContent } from '../../api/snapshot.ts';
import { formatHandle, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { idle } from './content-status.ts';
import { dueAt, noteOf } from './job-record.ts';
import { setFields } from './status.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/** Records a complete copy in the content's status. */
export function ready(
  { content }: ContentInput,
  handle: SnapshotHandle,
  { sizeBytes, takenAt }: { sizeBytes: number; takenAt?: number | undefined },
  now: number,
): Decision<ContentAction> {
  const action = setFields(content.status, {
    snapshotHandle: formatHandle(handle),
    creationTime: content.status?.creationTime ?? (takenAt ?? submittedAt(content, now)) * 1e6,
    restoreSize: sizeBytes,
    readyToUse: true,
    error: null,
  });
  return action === undefined ? idle : { action };
}

/**
 * Returns the earliest start of a job that an earlier reconcile submitted. A copy without a job
 * record dates from `now`.
 */
function submittedAt(content: VolumeSnapshotContent, now: number): number {
  const note = noteOf(content);
  return note === undefined ? now : Math.min(now, Math.max(note.at, dueAt(note, now)));
}

/**
 * Chooses among the nodes that reach a copy: the Volume's node, else a Ready one, else any that is
 * not off.
 */
export function nodeFor({ place, nodeFacts }: ContentInput, { nodes }: SnapshotHandle): string {
  if (place !== undefined && 'node' in place && nodes.includes(place.node)) return place.node;
  const facts = nodes.map((node) => ({ node, ...nodeFacts(node) }));
  const best =
    facts.find(({ ready, off }) => ready && !off) ??
    facts.find(({ exists, off }) => exists && !off);
  return best?.node ?? (nodes[0] as string);
}
