import { FORGET_NODE_ANNOTATION, SNAPSHOT_EVENT, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { isPaused } from '../../api/paused.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import { parseHandle, type SnapshotHandle } from '../../api/snapshot-handle.ts';
import { idle, unknown, waitFor } from './content-status.ts';
import { nodeFor } from './copy.ts';
import { dueAt, isOwn, type JobNote, nextNote, noteOf } from './job-record.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/**
 * What to do about a VolumeSnapshotContent that is being deleted: where its policy is Delete, its copy goes first, and so does
 * with Retain what was only half taken. Whatever else of it is gone by then: the handle alone says where the copy is. Pure.
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
  // No job was ever named, or it is no snapshot that Stowage can have taken.
  if (handle === undefined || 'problem' in handle) return release;
  if (metadata.annotations?.[FORGET_NODE_ANNOTATION] === metadata.uid) return release;
  if (spec.deletionPolicy === 'Retain' && !mayBeUnfinished(input, note)) return release;
  // Whoever writes a handle by hand can name what is another's; that goes with the last one who has it.
  if (input.isOfAnother(handle)) return release;
  return remove(input, handle, note, now);
}

/**
 * A job was to take it, and nobody has recorded that it did: half a copy may be there, and a freeze, which this content alone knows
 * of. What is on a machine that somebody vouches is off is not waited for: what stays there is to be kept.
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
  // A job that was named stays where it is, unless somebody vouches that this machine is off.
  const node =
    going === undefined || (nodeFacts(going.node).off && best !== going.node) ? best : going.node;
  const facts = nodeFacts(node);
  if (!facts.ours) return idle;
  // What was recorded is made by no job any more.
  const isTaken = content.status?.snapshotHandle !== undefined;
  const taking = note?.do === 'take' && !isTaken ? waitForTaking(input, note, now) : undefined;
  if (taking !== undefined) return taking;
  // Finished, though nobody wrote that down.
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
      return going === undefined ? { retry: true } : { follow: going };
    case 'unknown':
      return away(input, node, seen, now);
    case 'refused':
      return { ...failed(input, seen, now), retry: true };
    case 'failed': {
      const said = failed(input, seen, now);
      return said.action === undefined ? name() : said;
    }
    case 'whole': {
      const said = failed(input, explain('SnapshotCopyStays'), now);
      return said.action === undefined ? name() : said;
    }
  }
}

/**
 * A job that may still run would bring the copy about after it was removed, so that its end is waited for. undefined once it
 * has ended, whatever it left, and where somebody vouches that its node is off.
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
      return nodeFacts(node).ours ? { action: { do: 'look', node, handle, note } } : idle;
    case 'running':
      return { follow: note };
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

/** A node that is no part of the cluster any more may never answer. */
function withWayOut(
  { content: { metadata }, nodeFacts }: ContentInput,
  node: string,
  { message, detail }: Explanation,
): Explanation {
  if (nodeFacts(node).exists) return { message, detail };
  const annotate = `kubectl annotate volumesnapshotcontent ${metadata.name} ${FORGET_NODE_ANNOTATION}=${metadata.uid}`;
  return {
    message: `there is no Node ${node}: ${message}. To let go of the copy there: ${annotate}`,
    detail,
  };
}

const release: Decision<ContentAction> = { action: { do: 'release' } };

/** It is not wrong, so that its status does not say so. */
const hold = (why: Explanation): Decision<ContentAction> => ({
  action: { do: 'tell', event: { type: 'Warning', reason: SNAPSHOT_EVENT.deletePending, ...why } },
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
