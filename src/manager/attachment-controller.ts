import { randomBytes } from 'node:crypto';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { Volume } from '../api/volume.ts';
import { createAttacherDetacher } from '../controllers/attachdetach/attacher-detacher.ts';
import { maxWaitProblem } from '../controllers/attachdetach/max-wait.ts';
import {
  type AttachmentReconciler,
  createAttachmentReconciler,
} from '../controllers/attachdetach/reconciler.ts';
import type { AttachmentOperationKind } from '../controllers/attachdetach/types.ts';
import { createVolumeConsumers } from '../controllers/attachdetach/volume-consumers.ts';
import type { VolumeState } from '../controllers/attachdetach/volume-state.ts';
import type { EventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { desiredOf } from '../model/desired-volume.ts';
import { withDeviceOwners } from '../model/device-owners.ts';
import { isNodeOff, MAX_WAIT_FOR_UNMOUNT } from '../model/node-health.ts';
import { statusProblem } from '../model/status-problem.ts';
import { nodeOf } from '../model/volume-nodes.ts';
import type { Executor } from '../nodes/job.ts';
import type { JobWatcher } from '../nodes/job-watcher.ts';
import { withAccess } from '../storage/device.ts';
import type { LoopNumbers } from '../storage/loop-numbers.ts';
import { observe } from '../storage/observe.ts';
import type { Clock } from '../workqueue/clock.ts';
import { createOperations } from '../workqueue/pending-operations.ts';
import { createWorkQueue } from '../workqueue/work-queue.ts';
import type { Metrics } from './metrics/metrics.ts';
import { nodeStateKey } from './predicates.ts';
import type { Part } from './runnable.ts';

export interface AttachmentOptions {
  /** Interval (ms) at which each node is verified; undefined: only on demand. */
  pollIntervalMs: number | undefined;
  /** Time (ms) that a detach waits for a NotReady node; Infinity: forever. */
  maxWaitForUnmountMs: number;
  /** Root directory of the kubelet on nodes. */
  kubeletRoot: string;
}

export const DEFAULT_ATTACHMENT: AttachmentOptions = {
  pollIntervalMs: undefined,
  maxWaitForUnmountMs: MAX_WAIT_FOR_UNMOUNT,
  kubeletRoot: '/var/lib/kubelet',
};

export interface AttachmentControllerDeps extends AttachmentOptions {
  client: KubeClient;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  nodes: Informer<KubeNode>;
  pods: Informer<Pod>;
  claims: Informer<PersistentVolumeClaim>;
  volumeOfUid(uid: string): Volume | undefined;
  executor: Executor;
  jobWatcher: JobWatcher;
  loopNumbers: LoopNumbers;
  events: EventRecorder;
  managesNode(node: string): boolean;
  /** Returns since when a node is NotReady, by `now` of the clock; undefined if it is Ready. */
  notReadySince(node: KubeNode): number | undefined;
  clock: Clock;
  random: () => number;
  logger: Logger;
  metrics?: Metrics | undefined;
}

/**
 * Limits of concurrent operations of each kind: an unreachable node blocks no other, and attaches
 * do not wait for detaches.
 */
const CAPS = { inAll: 64, perGroup: 8 };

/**
 * Creates the controller that attaches devices where pods run. Call it before the given informers
 * start.
 */
export function createAttachmentController(
  deps: AttachmentControllerDeps,
): Part & Pick<AttachmentReconciler, 'isMoving'> {
  const { volumes, persistentVolumes, storageClasses, pods, claims, nodes } = deps;
  const { clock, random, executor, logger, metrics } = deps;
  const uses = createVolumeConsumers(deps);
  const volumesOn = indexBy(volumes, attachmentNodes);
  const queue = createWorkQueue({
    clock,
    random,
    groupOf: () => '',
    perGroup: 32,
  });
  const operations = createOperations<AttachmentOperationKind>({
    clock,
    caps: { attach: CAPS, detach: CAPS, verify: CAPS },
    onEnd(operation, succeeded, ms) {
      metrics?.attachments.onOperation(operation.kind, succeeded, ms);
      const name = reconciler.nameOf(operation.key);
      if (name !== undefined) queue.add(name);
    },
  });
  const attacher = createAttacherDetacher({
    ...deps,
    desiredOf(volume, node, readOnly) {
      const desired = { ...desiredOf(volume, undefined, node), kubeletRoot: deps.kubeletRoot };
      return withAccess(desired, {
        readOnly,
        owner: { node, token: randomBytes(8).toString('hex') },
      });
    },
    isOff: (node) => isNodeOff(deps.client, node),
    async observe(_volume, node, desired, seen) {
      let first = seen;
      const observed = await observe((probes) => {
        const known = first ?? executor.observe(node, probes);
        first = undefined;
        return Promise.resolve(known);
      }, desired);
      return withDeviceOwners(observed, desired.uid, deps.volumeOfUid);
    },
  });
  const reconciler: AttachmentReconciler = createAttachmentReconciler({
    ...deps,
    uses,
    attacher,
    operations,
    onForced: metrics?.attachments.onForced,
    statusProblem,
    enqueue: (name, afterMs) =>
      afterMs === undefined ? queue.add(name) : queue.addAfter(name, afterMs),
  });

  volumes.onChange(({ object }) => queue.add(object.metadata.name));
  persistentVolumes.onChange(({ object }) => queue.add(object.metadata.name));
  pods.onChange(({ object, old }) => {
    for (const name of uses.namesOf(object)) queue.add(name);
    for (const name of old === undefined ? [] : uses.namesOf(old)) queue.add(name);
    for (const name of reconciler.namesOf(object.metadata.uid ?? '')) queue.add(name);
    if (old !== undefined)
      for (const name of reconciler.namesOf(old.metadata.uid ?? '')) queue.add(name);
  });
  storageClasses.onChange(({ type, object, old }) => {
    const problem = type === 'deleted' ? undefined : maxWaitProblem(object);
    if (problem !== undefined && problem !== maxWaitProblem(old)) logger.warn({}, problem);
  });
  claims.onChange(({ object, old }) => {
    for (const name of [object.spec.volumeName, old?.spec.volumeName]) if (name) queue.add(name);
  });
  nodes.onChange(({ type, object, old }) => {
    if (type === 'updated' && old !== undefined && nodeStateKey(old) === nodeStateKey(object))
      return;
    for (const { metadata } of volumesOn(object.metadata.name)) queue.add(metadata.name);
  });
  const sum = (of: (known: VolumeState) => number) =>
    [...reconciler.known()].reduce((all, known) => all + of(known), 0);
  metrics?.attachments.add(
    {
      operations: operations.list,
      actual: () => sum(({ entries }) => entries.length),
      desired: () => sum(({ wanted }) => wanted),
    },
    clock,
  );
  return {
    isMoving: reconciler.isMoving,
    start() {},
    begin(after, run) {
      // Until all pods are listed, devices that pods use would be detached.
      Promise.all([after, nodes.synced, pods.synced, claims.synced])
        .then(() => run('attachment', queue, reconciler.reconcile))
        // A stop before the first list rejects these; `stop` below reports it.
        .catch(() => {});
    },
    sources: [],
    // Jobs of running operations continue on their nodes.
    stop: (deadlineMs) => operations.stop(deadlineMs, clock.sleep),
  };
}

/** Returns the nodes that a Volume may be attached to, or is attached to by its status. */
const attachmentNodes = (volume: Volume): string[] => [
  ...new Set([
    ...(volume.spec.attachableNodes ?? [nodeOf(volume)]),
    ...(volume.status?.attachments ?? []).map(({ node }) => node),
  ]),
];
