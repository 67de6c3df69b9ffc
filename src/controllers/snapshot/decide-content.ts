import { SNAPSHOT_EVENT, SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import { explain, reason } from '../../api/reasons.ts';
import { formatHandle, parseHandle } from '../../api/snapshot-handle.ts';
import { idle, unknown, waitFor } from './content-status.ts';
import { nodeFor, ready } from './copy.ts';
import { take } from './create-snapshot.ts';
import { decideContentDeletion } from './decide-content-deletion.ts';
import { noteOf } from './job-record.ts';
import { restoreNote } from './restore-job-record.ts';
import type { ContentAction, ContentInput, Decision } from './types.ts';

/**
 * Decides about one VolumeSnapshotContent of this driver, as a CSI driver's sidecar does. Pure.
 * @param now ms since the epoch
 */
export function decideContent(input: ContentInput, now: number): Decision<ContentAction> {
  const { content } = input;
  const lost = content.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.content)
    ? restoreNote(input, now)
    : undefined;
  if (lost !== undefined) return lost;
  if (content.metadata.deletionTimestamp !== undefined) return decideContentDeletion(input, now);
  const { volumeHandle, snapshotHandle } = content.spec.source;
  if ((volumeHandle === undefined) === (snapshotHandle === undefined)) {
    return waitFor(content, now, SNAPSHOT_EVENT.checkFailed, explain('ContentSourceAmbiguous'));
  }
  // Add the finalizer before anything is on a node.
  if (!content.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.content)) {
    return { action: { do: 'add-finalizer' } };
  }
  const recorded = content.status?.snapshotHandle ?? snapshotHandle;
  return recorded === undefined ? take(input, now) : verify(input, recorded, now);
}

/** Verifies a recorded or pre-provisioned copy until it is found. Never takes it again. */
function verify(input: ContentInput, recorded: string, now: number): Decision<ContentAction> {
  const { content, outcome } = input;
  const { status } = content;
  if (status?.readyToUse && status.error === undefined) return idle;
  const handle = parseHandle(recorded);
  if ('problem' in handle) {
    const detail = reason('ContentHandleInvalid', { handle: JSON.stringify(recorded) });
    const why = { message: `snapshot handle ${handle.problem}`, detail };
    return waitFor(content, now, SNAPSHOT_EVENT.checkFailed, why);
  }
  const node = nodeFor(input, handle);
  if (!input.nodeFacts(node).ours) return idle;
  switch (outcome?.is) {
    case undefined:
      return { action: { do: 'observe', node, handle, note: noteOf(content) } };
    case 'whole':
      return ready(input, handle, outcome, now);
    case 'unknown':
      return unknown(content, now, outcome);
    case 'running':
      return { retry: true };
    default: {
      const why = explain('SnapshotCopyMissing', { copy: formatHandle(handle), node });
      return { ...waitFor(content, now, SNAPSHOT_EVENT.checkFailed, why), retry: true };
    }
  }
}
