import { SNAPSHOT_EVENT } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { RETRY } from '../../model/retry.ts';
import { sizeOf } from '../../storage/registry.ts';
import type { Room } from '../lib/capacity/capacity-cache.ts';
import { nameOf, whyNoRoom } from '../lib/capacity/refusal.ts';
import { placeOfCopy } from '../lib/capacity/room.ts';
import { keyOf } from '../lib/event-key.ts';
import { dynamicName } from '../lib/snapshot-content.ts';
import { idle, unknown, waitFor } from './content-status.ts';
import { ready } from './copy.ts';
import { dueAt, isOwn, type JobNote, nextNote, noteOf } from './job-record.ts';
import { freezeOf } from './snapshot-class.ts';
import { isBeingMade } from './source.ts';
import { detailOf } from './status.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/**
 * Decides how to take the snapshot of a content that has none. Jobs run one at a time, and the
 * content records each before it is submitted.
 */
export function take(input: ContentInput, now: number): Decision<ContentAction> {
  const { content, outcome } = input;
  const note = noteOf(content);
  const alone = withoutSnapshot(input, note, now);
  if (alone !== undefined) return alone;
  switch (outcome?.is) {
    case undefined:
      return note === undefined ? begin(input, now) : goOn(input, note, now);
    case 'whole':
      return note === undefined ? idle : ready(input, note.handle, outcome, now);
    case 'running':
      return note === undefined ? { retry: true } : { watch: note };
    case 'unknown':
      return unknown(content, now, outcome);
    case 'refused':
      return { ...failed(input, outcome, now), retry: true };
    case 'failed': {
      // Reports one of the two messages: alternating them would write the status forever.
      const noRoom = withoutRoom(input, now);
      if (noRoom !== undefined) return noRoom;
      const decision = failed(input, outcome, now);
      return decision.action === undefined ? again(input, note, now) : decision;
    }
    // Result of an observation, while no job may be submitted.
    case 'absent':
      return begin(input, now);
  }
}

/**
 * Decides about a content whose snapshot was deleted before it was taken. No copy was reported, so
 * a dynamic content is deleted. The standard snapshot-controller may not have observed the content,
 * and ignores contents of missing snapshots. Returns undefined if the snapshot exists, or if a copy
 * may exist that must stay.
 */
function withoutSnapshot(
  { snapshot, liveSnapshot, content }: ContentInput,
  note: JobNote | undefined,
  now: number,
): Decision<ContentAction> | undefined {
  if (snapshot !== undefined) return undefined;
  const { metadata, spec } = content;
  const { namespace, name, uid } = spec.volumeSnapshotRef;
  // A content created by hand may precede its snapshot.
  const isDynamic = Boolean(uid) && metadata.name === dynamicName(uid ?? '');
  if (
    note !== undefined &&
    (spec.deletionPolicy === 'Retain' || !isDynamic || !isOwn(content, note))
  ) {
    return undefined;
  }
  if (liveSnapshot === undefined) return { action: { do: 'read-snapshot' } };
  if (liveSnapshot.found !== undefined) return undefined;
  if (isDynamic) return { action: { do: 'delete-content' } };
  return waitFor(
    content,
    now,
    SNAPSHOT_EVENT.creationFailed,
    failure(explain('SnapshotMissing', { snapshot: `${namespace}/${name}` })),
  );
}

/** Records the next job while nothing is on a node, or reports the obstacle to it. */
function begin(input: ContentInput, now: number): Decision<ContentAction> {
  const { content } = input;
  const obstacle = obstacleTo(input);
  if (obstacle !== undefined) return failed(input, obstacle, now);
  return again(input, noteOf(content), now);
}

/**
 * Continues a recorded job, which may have left something. If no job may be submitted now, observes
 * the node instead.
 */
function goOn(input: ContentInput, note: JobNote, now: number): Decision<ContentAction> {
  const { content, nodeFacts } = input;
  const facts = nodeFacts(note.node);
  if (!facts.ours) return idle;
  const freeze = freezeOf(input.snapshotClass);
  if (obstacleTo(input) !== undefined || 'message' in freeze) {
    return { action: { do: 'observe', node: note.node, handle: note.handle, note } };
  }
  // Continues on another machine that reaches the same files once this one is marked off.
  if (facts.off && placeOf(input)?.node !== note.node) return again(input, note, now);
  const wait = dueAt(note, now) - now;
  if (wait > 0) return { requeueAfter: wait };
  return { action: { do: 'take', note: noteOf(content) as JobNote, freeze } };
}

function again(
  input: ContentInput,
  note: JobNote | undefined,
  now: number,
): Decision<ContentAction> {
  const obstacle = obstacleTo(input);
  const place = placeOf(input);
  if (obstacle !== undefined || place === undefined) return idle;
  if (!input.nodeFacts(place.node).ours) return idle;
  const volume = input.volume?.metadata.uid ?? '';
  const { node, handle } = place;
  const noRoom = withoutRoom(input, now);
  if (noRoom !== undefined) return noRoom;
  return {
    action: { do: 'write-note', note: nextNote(note, { do: 'take', volume, node, handle }, now) },
  };
}

/**
 * Decides what to do without room for a copy of the volume's nominal size; returns undefined if
 * there is room. A copy may share blocks with its volume, but the number is unknown. Called before
 * each job is recorded, which reserves the room.
 */
function withoutRoom(input: ContentInput, now: number): Decision<ContentAction> | undefined {
  const { content, volume, outcome } = input;
  const node = placeOf(input)?.node;
  if (volume === undefined || node === undefined || obstacleTo(input) !== undefined)
    return undefined;
  // Writers hang until the volume is thawed, which the next job does first.
  if (outcome?.is === 'failed' && outcome.isFrozen) return undefined;
  const place = placeOfCopy(volume);
  if (place === undefined || !input.nodeFacts(node).ours) return undefined;
  const seen = input.roomOn(node, place);
  if (seen === undefined) return { action: { do: 'observe-room', node, place } };
  const left = outcome?.is === 'failed' ? (outcome.leftBytes ?? 0n) : 0n;
  const room: Room = 'freeBytes' in seen ? { freeBytes: seen.freeBytes + left } : seen;
  const why = whyNoRoom(node, nameOf(place), room, sizeOf(volume.spec), 'NoRoomForCopy');
  if (why === undefined) return undefined;
  if ('unknown' in room) return unknown(content, now, why);
  const reported = detailOf(content);
  return reported !== undefined && keyOf(reported) === keyOf(why.detail)
    ? { requeueAfter: RETRY.recheck }
    : { ...failed(input, why, now), requeueAfter: RETRY.recheck };
}

const placeOf = ({ place }: ContentInput) =>
  place !== undefined && 'node' in place ? place : undefined;

/** Returns why no job may be submitted now. A change of the obstacle triggers a reconcile. */
function obstacleTo({
  content,
  volume,
  place,
  snapshotClass,
  nodeFacts,
}: ContentInput): Explanation | undefined {
  const name = content.spec.source.volumeHandle ?? '';
  if (volume === undefined) return explain('SnapshotVolumeGone', { volume: name });
  if (volume.metadata.deletionTimestamp !== undefined)
    return explain('SnapshotVolumeBeingDeleted', { volume: name });
  if (isBeingMade(volume)) return explain('SnapshotVolumeNotMade', { volume: name });
  const freeze = freezeOf(snapshotClass);
  if ('message' in freeze) return freeze;
  if (place !== undefined && 'message' in place) return place;
  const node = place?.node ?? '';
  if (isPaused(content)) return explain('ContentPaused', { content: content.metadata.name });
  if (isPaused(volume)) return explain('SnapshotVolumePaused', { volume: name });
  return nodeFacts(node).paused ? explain('SnapshotNodePaused', { node }) : undefined;
}

const failed = (
  { content }: ContentInput,
  why: Explanation,
  now: number,
): Decision<ContentAction> => waitFor(content, now, SNAPSHOT_EVENT.creationFailed, failure(why));

const failure = ({ message, detail }: Explanation): Explanation => ({
  message: `Failed to create snapshot: ${message}`,
  detail,
});
