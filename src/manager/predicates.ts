import type { KubeNode } from '../api/core.ts';
import type { KubeObject } from '../api/meta.ts';
import { FORGET_NODE_ANNOTATION, READY_REASON } from '../api/names.ts';
import { isPaused } from '../api/paused.ts';
import type { Volume } from '../api/volume.ts';
import { readyOf } from '../controllers/volume/status.ts';
import { compareVersions } from '../kube/store.ts';
import { isOff } from '../model/node-health.ts';
import { nodeIncarnation } from '../model/node-incarnation.ts';

/**
 * A status is written by us, and whoever writes one goes on from it: called again by each write, it would not rest. One
 * that went back is of a backup that the API server was restored from.
 */
export function needsReconcile(old: KubeObject, object: KubeObject): boolean {
  const { metadata } = object;
  const forgets = ({ metadata: { annotations } }: KubeObject) =>
    annotations?.[FORGET_NODE_ANNOTATION];
  return (
    isPaused(old) !== isPaused(object) ||
    forgets(old) !== forgets(object) ||
    compareVersions(metadata.resourceVersion ?? '', old.metadata.resourceVersion ?? '') < 0 ||
    old.metadata.uid !== metadata.uid ||
    old.metadata.generation !== metadata.generation ||
    old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
    old.metadata.finalizers?.join() !== metadata.finalizers?.join()
  );
}

/** What of a Node work on its Volumes goes by, as text. */
export const nodeStateKey = (node: KubeNode): string =>
  `${isPaused(node)} ${isOff(node)} ${nodeIncarnation(node)}`;

/** Attachment has told of the device what was not known before: it is looked at again. */
export const attachmentsChanged = (old: Volume, { status }: Volume): boolean =>
  JSON.stringify(old.status?.attachments) !== JSON.stringify(status?.attachments);

export const isNodeUnreachable = (object: Pick<Volume, 'status'>): boolean =>
  readyOf(object)?.reason === READY_REASON.nodeUnreachable;
