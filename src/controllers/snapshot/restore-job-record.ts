import { FORGET_NODE_ANNOTATION, SNAPSHOT_EVENT } from '../../api/names.ts';
import { explain } from '../../api/reasons.ts';
import { parseHandle } from '../../api/snapshot-handle.ts';
import { idle, waitFor } from './content-status.ts';
import { nodeFor } from './copy.ts';
import { lostAttempt } from './job-record.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/**
 * Restores the lost job record of a content: only the record leads to what a job may have left on a
 * node. Returns undefined if no record is lost. Pure.
 */
export function restoreNote(input: ContentInput, now: number): Decision<ContentAction> | undefined {
  const { content, place, volume, nodeFacts } = input;
  const { metadata, spec, status } = content;
  const attempt = lostAttempt(content);
  if (attempt === undefined || metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid) {
    return undefined;
  }
  const recorded = status?.snapshotHandle ?? spec.source.snapshotHandle;
  // Retain keeps a finished copy, wherever it is.
  const stays = spec.deletionPolicy === 'Retain' && recorded !== undefined;
  if (metadata.deletionTimestamp !== undefined && stays) return undefined;
  const handle =
    recorded !== undefined
      ? parseHandle(recorded)
      : place !== undefined && 'handle' in place
        ? place.handle
        : undefined;
  if (handle === undefined) return waitFor(content, now, SNAPSHOT_EVENT.checkFailed, lost(input));
  // Stowage cannot have taken such a snapshot; its verification reports the handle.
  if ('problem' in handle) return undefined;
  const node = nodeFor(input, handle);
  if (!nodeFacts(node).ours) return idle;
  const subject = volume?.metadata.uid ?? metadata.uid ?? '';
  const note = { do: 'take', volume: subject, node, handle, attempt, tries: 1, at: now } as const;
  return { action: { do: 'write-note', note } };
}

const lost = ({ content: { metadata, spec } }: ContentInput) =>
  explain('ContentNoteLost', {
    volume: spec.source.volumeHandle ?? '',
    content: metadata.name,
    uid: metadata.uid ?? '',
  });
