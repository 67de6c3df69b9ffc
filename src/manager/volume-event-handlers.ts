import type { KubeNode, PersistentVolume } from '../api/core.ts';
import type { Leftover } from '../api/leftover.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Volume } from '../api/volume.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import { eligibleNodes } from '../model/volume-nodes.ts';
import type { WorkQueue } from '../workqueue/work-queue.ts';
import {
  attachmentsChanged,
  isNodeUnreachable,
  needsReconcile,
  nodeStateKey,
} from './predicates.ts';

export interface VolumeHandlersDeps {
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  leftovers: Informer<Leftover>;
  nodes: Informer<KubeNode>;
  /** Queue of Volume names. */
  queue: WorkQueue;
  /** Queue of Leftover names, which are UIDs of Volumes. */
  leftoverQueue: WorkQueue;
  /** Returns the node that runs a Volume's work. */
  placeOf(volume: Volume): string;
}

/**
 * Registers handlers that requeue Volumes and Leftovers on changes. Call it before the informers
 * start.
 */
export function registerVolumeHandlers(deps: VolumeHandlersDeps): void {
  const { volumes, persistentVolumes, leftovers, nodes, queue, leftoverQueue, placeOf } = deps;
  const volumesOn = indexBy(volumes, eligibleNodes);
  const leftoversOn = indexBy(leftovers, ({ spec }) => spec.nodeName);
  volumes.onChange(({ type, object, old }) => {
    const { name, uid = '' } = object.metadata;
    if (old === undefined || needsReconcile(old, object) || attachmentsChanged(old, object))
      queue.add(name);
    if (old !== undefined && isNodeUnreachable(old) && !isNodeUnreachable(object))
      wake(placeOf(object));
    if (type === 'deleted' && leftovers.get(uid) !== undefined) leftoverQueue.add(uid);
  });
  leftovers.onChange(({ object, old }) => {
    if (old === undefined || needsReconcile(old, object)) leftoverQueue.add(object.metadata.name);
  });
  persistentVolumes.onChange(({ object }) => {
    // Matched by name, whatever its owner reference.
    if (volumes.get(object.metadata.name) !== undefined) queue.add(object.metadata.name);
  });
  nodes.onChange(({ type, object, old }) => {
    if (type === 'updated' && nodeStateKey(old) === nodeStateKey(object)) return;
    const { name } = object.metadata;
    for (const volume of volumesOn(name)) again(queue, volume);
    for (const leftover of leftoversOn(name)) again(leftoverQueue, leftover);
  });

  /**
   * Requeues all work that waits for a node after a Volume has reached it: other retries may be
   * minutes away.
   */
  function wake(node: string): void {
    for (const volume of volumesOn(node))
      if (isNodeUnreachable(volume)) queue.add(volume.metadata.name);
    for (const leftover of leftoversOn(node))
      if (isNodeUnreachable(leftover)) leftoverQueue.add(leftover.metadata.name);
  }
}

/** Requeues at once and resets the backoff: a node that is back may refuse logins for a while. */
function again(queue: WorkQueue, { metadata: { name } }: KubeObject): void {
  queue.forget(name);
  queue.add(name);
}
