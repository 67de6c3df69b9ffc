import { FORGET_NODE_ANNOTATION, SNAPSHOT_EVENT, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { parseHandle, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { withHint } from '../../nodes/job-text.ts';
import { idle, unknown, waitFor } from './content-status.ts';
import { nodeFor } from './copy.ts';
import { dueAt, isOwn, type JobNote, nextNote, noteOf } from './job-record.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/**
 * Decides about a VolumeSnapshotContent that is being deleted. Policy Delete removes the copy
 * first; Retain removes only a partial copy. The handle alone locates the copy: everything else may
 * be gone. Pure.
 */
export function decideContentDeletion(input: ContentInput, now: number): Decision<ContentAction> {
  const { content, snapshot, restores } = input;
  const { metadata, spec, status } = content;
  if (!metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.content)) return idle;
  if (snapshot !== undefined && snapshot.metadata.deletionTimestamp === undefined) {
    const { namespace, name } = snapshot.metadata;
    return hold(explain('ContentOfSnapshot', { snapshot: `${namespace}/${name}` }));
  }
  const [restored] = restores;
  if (restored !== undefined)
    return hold(explain('ContentBeingRestored', { volume: restored.metadata.name }));
  const note = noteOf(content);
  const recorded = status?.snapshotHandle ?? spec.source.snapshotHandle;
  const handle = recorded === undefined ? note?.handle : parseHandle(recorded);
  // No job was ever recorded, or Stowage cannot have taken this snapshot.
  if (handle === undefined || 'problem' in handle) return release;
  if (metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid) return release;
  if (spec.deletionPolicy === 'Retain' && !mayBeUnfinished(input, note)) return release;
  // A handle written by hand may name another object's copy. The last content that has the handle
  // removes the copy.
  if (input.isOfAnother(handle)) return release;
  return remove(input, handle, note, now);
}

/**
 * Reports whether a job without a recorded result may have left a partial copy or a freeze, which
 * only this content knows of. False if the node is marked off: with Retain, a copy there stays.
 */
function mayBeUnfinished({ content, nodeFacts }: ContentInput, note: JobNote | undefined): boolean {
  const { spec, status } = content;
  const isRecorded = (status?.snapshotHandle ?? spec.source.snapshotHandle) !== undefined;
  return !isRecorded && note !== undefined && isOwn(content, note) && !nodeFacts(note.node).off;
}

function remove(
  input: ContentInput,
  handle: SnapshotHandle,
  note: JobNote | undefined,
  now: number,
): Decision<ContentAction> {
  const { content, outcome, nodeFacts } = input;
  const going = note?.do === 'delete' ? note : undefined;
  const best = nodeFor(input, handle);
  // A recorded job keeps its node, unless that node is marked off.
  const node =
    going === undefined || (nodeFacts(going.node).off && best !== going.node) ? best : going.node;
  const facts = nodeFacts(node);
  if (!facts.ours) return idle;
  // Once the handle is recorded, no job takes the snapshot any more.
  const isTaken = content.status?.snapshotHandle !== undefined;
  const taking = note?.do === 'take' && !isTaken ? waitForTaking(input, note, now) : undefined;
  if (taking !== undefined) return taking;
  // The copy is complete, although its handle was not recorded.
  if (content.spec.deletionPolicy === 'Retain' && outcome?.is === 'whole') return release;
  const name = (): Decision<ContentAction> => {
    const volume = note?.volume ?? input.volume?.metadata.uid ?? content.metadata.uid ?? '';
    const wanted = { do: 'delete', volume, node, handle } as const;
    return { action: { do: 'write-note', note: nextNote(note, wanted, now) } };
  };
  const seen = note?.do === 'take' ? undefined : outcome;
  switch (seen?.is) {
    case undefined: {
      const paused = isPaused(content)
        ? explain('ContentPaused')
        : facts.paused
          ? explain('SnapshotNodePaused', { node })
          : undefined;
      if (paused !== undefined) {
        const why = { ...paused, message: `${paused.message}; the deletion waits` };
        return waitFor(content, now, SNAPSHOT_EVENT.deleteFailed, why);
      }
      if (going === undefined || going.node !== node) return name();
      const wait = dueAt(going, now) - now;
      return wait > 0 ? { requeueAfter: wait } : { action: { do: 'delete', note: going } };
    }
    case 'absent':
      return release;
    case 'running':
      return going === undefined ? { retry: true } : { watch: going };
    case 'unknown':
      return away(input, node, seen, now);
    case 'refused':
      return { ...failed(input, seen, now), retry: true };
    case 'failed': {
      const decision = failed(input, seen, now);
      return decision.action === undefined ? name() : decision;
    }
    case 'whole': {
      const decision = failed(input, explain('SnapshotCopyStays'), now);
      return decision.action === undefined ? name() : decision;
    }
  }
}

/**
 * Waits for the end of a job that may still take the snapshot: it would recreate the removed copy.
 * Returns undefined once the job has ended, or if its node is marked off.
 */
function waitForTaking(
  input: ContentInput,
  note: JobNote,
  now: number,
): Decision<ContentAction> | undefined {
  const { outcome, nodeFacts } = input;
  const { node, handle } = note;
  if (nodeFacts(node).off) return undefined;
  switch (outcome?.is) {
    case undefined:
      return nodeFacts(node).ours ? { action: { do: 'observe', node, handle, note } } : idle;
    case 'running':
      return { watch: note };
    case 'unknown':
      return away(input, node, outcome, now);
    default:
      return undefined;
  }
}

const away = (
  input: ContentInput,
  node: string,
  why: Explanation,
  now: number,
): Decision<ContentAction> =>
  unknown(input.content, now, withWayOut(input, node, why), SNAPSHOT_EVENT.deleteFailed);

/**
 * Adds the command that skips the copy if the Node object is gone: such a node may never answer.
 */
function withWayOut(
  { content: { metadata }, nodeFacts }: ContentInput,
  node: string,
  { message, detail }: Explanation,
): Explanation {
  if (nodeFacts(node).exists) return { message, detail };
  const annotate = `kubectl annotate volumesnapshotcontent ${metadata.name} ${FORGET_NODE_ANNOTATION}=${metadata.uid}`;
  return {
    message: withHint(
      `Node ${node} does not exist: ${message}`,
      `To leave the copy there: ${annotate}`,
    ),
    detail,
  };
}

const release: Decision<ContentAction> = { action: { do: 'release' } };

/** Emits an event only: the obstacle is not an error, so the status does not report it. */
const hold = (why: Explanation): Decision<ContentAction> => ({
  action: {
    do: 'emit-event',
    event: { type: 'Warning', reason: SNAPSHOT_EVENT.deletePending, ...why },
  },
});

const failed = (
  { content }: ContentInput,
  { message, detail }: Explanation,
  now: number,
): Decision<ContentAction> =>
  waitFor(content, now, SNAPSHOT_EVENT.deleteFailed, {
    message: `Failed to delete snapshot: ${message}`,
    detail,
  });
