import type { KubeNode } from '../api/core.ts';
import type { KubeObject } from '../api/meta.ts';
import {
  FORGET_NODE_ANNOTATION,
  HOSTNAME_LABEL,
  READY_REASON,
  RETRY_ANNOTATION,
} from '../api/names.ts';
import { isPaused } from '../api/paused.ts';
import type { Volume } from '../api/volume.ts';
import { readyOf } from '../controllers/volume/status.ts';
import { compareVersions } from '../kube/store.ts';
import { isOff } from '../model/node-health.ts';
import { incarnationText } from '../model/node-incarnation.ts';

/**
 * Ignores status-only updates: requeueing on our own writes would loop. Accepts an older resource
 * version, which means that the API server was restored from a backup.
 */
export function needsReconcile(old: KubeObject, object: KubeObject): boolean {
  const { metadata } = object;
  const requests = ({ metadata: { annotations } }: KubeObject) =>
    `${annotations?.[FORGET_NODE_ANNOTATION]} ${annotations?.[RETRY_ANNOTATION]}`;
  return (
    isPaused(old) !== isPaused(object) ||
    requests(old) !== requests(object) ||
    compareVersions(metadata.resourceVersion ?? '', old.metadata.resourceVersion ?? '') < 0 ||
    old.metadata.uid !== metadata.uid ||
    old.metadata.generation !== metadata.generation ||
    old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
    old.metadata.finalizers?.join() !== metadata.finalizers?.join()
  );
}

/** Returns the part of a Node's state that affects work on its Volumes, as text. */
export const nodeStateKey = (node: KubeNode): string =>
  `${isPaused(node)} ${isOff(node)} ${node.metadata.labels?.[HOSTNAME_LABEL]} ${incarnationText(node)}`;

/** Reports whether the attachments changed, so that the device must be observed again. */
export const attachmentsChanged = (old: Volume, { status }: Volume): boolean =>
  JSON.stringify(old.status?.attachments) !== JSON.stringify(status?.attachments);

export const isNodeUnreachable = (object: Pick<Volume, 'status'>): boolean =>
  readyOf(object)?.reason === READY_REASON.nodeUnreachable;
