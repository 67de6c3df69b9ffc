import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import {
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
} from '../api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../api/snapshot.ts';
import { parseHandle } from '../api/snapshot-handle.ts';
import type { Volume } from '../api/volume.ts';
import type { Rooms } from '../controllers/lib/capacity/capacity-cache.ts';
import { createReservations } from '../controllers/lib/capacity/reservations.ts';
import type { KeptCopy } from '../controllers/lib/capacity/room.ts';
import { contentNameOf } from '../controllers/lib/snapshot-content.ts';
import type { ContentOperation } from '../controllers/snapshot/content-deps.ts';
import {
  createContentReconciler,
  type Result,
} from '../controllers/snapshot/content-reconciler.ts';
import {
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  type SnapshotController,
} from '../controllers/snapshot/controller-mode.ts';
import { noteOf } from '../controllers/snapshot/job-record.ts';
import type { NodeWork } from '../controllers/snapshot/node-work.ts';
import { placeFor } from '../controllers/snapshot/place.ts';
import { createSnapshotReconciler } from '../controllers/snapshot/snapshot-reconciler.ts';
import { isBeingMade } from '../controllers/snapshot/source.ts';
import type { EventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { desiredOf } from '../model/desired-volume.ts';
import { eligibleNodes, workNode } from '../model/volume-nodes.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';
import type { Clock } from '../workqueue/clock.ts';
import { createWorkQueue, type WorkQueue } from '../workqueue/work-queue.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import { copiesOf, handleOf } from './kept-copies.ts';
import type { ReadinessSource } from './readiness.ts';
import type { Inform } from './runnable.ts';
import { registerSnapshotHandlers, type SnapshotKey } from './snapshot-event-handlers.ts';
import { watchStandardController } from './standard-controller-detection.ts';
import { whenServed } from './wait-for-crds.ts';

export interface SnapshotControllerDeps {
  client: KubeClient;
  /** Controller that binds VolumeSnapshots. */
  flag: SnapshotController;
  inform: Inform;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  claims: Informer<PersistentVolumeClaim>;
  nodes: Informer<KubeNode>;
  storageClasses: Informer<StorageClass>;
  rooms: Rooms;
  work: NodeWork;
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Clock;
  random: () => number;
  logger: Logger;
  absentCrds: AbsentCrds;
  retry: BackoffRange;
  workers: number | (() => number);
  onContents?: ((contents: Informer<VolumeSnapshotContent>) => void) | undefined;
  onOperation?: ((operation: ContentOperation) => void) | undefined;
}

export interface RunningSnapshots {
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  queue: WorkQueue;
  reconcile(key: string, signal: AbortSignal): Promise<Result>;
  /** Returns the copies that take space on a node. */
  copiesOn(node: string): readonly KeptCopy[];
  /** Starts the informers as soon as the API server serves their kinds. */
  start(): void;
  /** Reports whether the cluster is known to lack the snapshot CRDs. */
  lacks(): boolean;
  /** Resolves when all informers are synced and the mode is known. */
  synced: Promise<unknown>;
  sources: readonly ReadinessSource[];
  stop(): Promise<void>;
}

/**
 * Creates the controller of VolumeSnapshots, their contents and classes. Call it before the given
 * informers start.
 */
export function createSnapshotController(deps: SnapshotControllerDeps): RunningSnapshots {
  const { client, inform, volumes, persistentVolumes, claims, nodes, clock, random, logger } = deps;
  const snapshots = inform<VolumeSnapshot>(VOLUME_SNAPSHOTS, transforms.volumeSnapshots);
  const contents = inform<VolumeSnapshotContent>(
    VOLUME_SNAPSHOT_CONTENTS,
    transforms.volumeSnapshotContents,
  );
  const snapshotClasses = inform<VolumeSnapshotClass>(
    VOLUME_SNAPSHOT_CLASSES,
    transforms.volumeSnapshotClasses,
  );
  deps.onContents?.(contents);
  const restores = indexBy(volumes, (volume) =>
    isBeingMade(volume) ? volume.spec.source?.snapshotContentName : undefined,
  );
  const clones = indexBy(volumes, ({ spec }) => spec.source?.volumeName);
  const snapshotsOfClaim = indexBy(snapshots, ({ metadata, spec }) => {
    const claim = spec.source.persistentVolumeClaimName;
    return claim === undefined ? undefined : `${metadata.namespace}/${claim}`;
  });
  const snapshotsOfContent = indexBy(snapshots, contentNameOf);
  const contentsOfVolume = indexBy(contents, ({ spec }) => spec.source.volumeHandle);
  const naming = createReservations<VolumeSnapshotContent>(
    (content, node) => handleOf(content)?.nodes.includes(node) ?? false,
  );
  const copiesOn = copiesOf(contents, volumes, naming);
  // Registered before the handlers that requeue.
  contents.onChange(({ type, object }) => {
    if (type === 'deleted')
      for (const node of handleOf(object)?.nodes ?? []) deps.rooms.forget(node);
  });
  const untaken = indexBy(contents, (content) => (isUntaken(content) ? '' : undefined));
  const placeOf = (volume: Volume) => workNode(volume, (name) => nodes.get(name));
  function nodeOfContent(content: VolumeSnapshotContent): string {
    const { volumeHandle = '', snapshotHandle = '' } = content.spec.source;
    const volume = volumes.get(volumeHandle);
    const handle = parseHandle(content.status?.snapshotHandle ?? snapshotHandle);
    const nodes = 'nodes' in handle ? handle.nodes : [];
    return noteOf(content)?.node ?? (volume && placeOf(volume)) ?? nodes[0] ?? '';
  }
  const queue = createWorkQueue({
    clock,
    random,
    retry: deps.retry,
    // An unreachable node blocks neither others nor work that needs no node.
    groupOf(key) {
      const [kind, name = ''] = key.split('/');
      const content = kind === 'content' ? contents.get(name) : undefined;
      return content === undefined ? '' : nodeOfContent(content);
    },
    perGroup: deps.workers,
  });
  const enqueue = (key: SnapshotKey) => queue.add(key);
  const mode = watchStandardController({
    flag: deps.flag,
    standard: { lease: CONTROLLER_LEASE, deployment: CONTROLLER_DEPLOYMENT },
    inform,
    clock,
    onChange(now) {
      logger.info({ mode: now }, 'the controller that binds VolumeSnapshots changed');
      wakes.all();
    },
  });
  const snapshotPart = createSnapshotReconciler({
    ...{
      client,
      snapshots,
      contents,
      snapshotClasses,
      claims,
      persistentVolumes,
      volumes,
      clock,
      logger,
    },
    events: deps.events,
    restoresOf: restores,
    clonesOf: clones,
    snapshotsOfClaim: (namespace, name) => snapshotsOfClaim(`${namespace}/${name}`),
    mode: mode.now,
  });
  const reconcileContent = createContentReconciler({
    ...{ client, contents, snapshots, snapshotClasses, volumes, nodes, clock, logger },
    ...{
      work: deps.work,
      managesNode: deps.managesNode,
      events: deps.events,
      onOperation: deps.onOperation,
    },
    ...{ storageClasses: deps.storageClasses, rooms: deps.rooms, naming },
    restoresOf: restores,
    placeOf(volume, contentUid) {
      const node = placeOf(volume);
      return placeFor(desiredOf(volume, undefined, node), node, eligibleNodes(volume), contentUid);
    },
    enqueue: (name) => enqueue(`content/${name}`),
  });
  const wakes = registerSnapshotHandlers({
    ...{ snapshots, contents, snapshotClasses, claims, persistentVolumes, volumes, nodes },
    ...{ snapshotsOfClaim, snapshotsOfContent, contentsOfVolume, clonesOf: clones },
    untaken: () => untaken(''),
    enqueue,
    again(key) {
      queue.forget(key);
      queue.add(key);
    },
  });

  const kinds = [
    [VOLUME_SNAPSHOTS, snapshots],
    [VOLUME_SNAPSHOT_CONTENTS, contents],
    [VOLUME_SNAPSHOT_CLASSES, snapshotClasses],
  ] as const;
  let stopped = false;
  const waiting = whenServed(
    client,
    kinds.map(([resource]) => resource),
    clock,
    deps.absentCrds,
  );
  const startAll = (): void => {
    if (stopped) return;
    for (const [, informer] of kinds) informer.start();
    mode.start();
  };
  const synced = Promise.all([mode.synced, ...kinds.map(([, informer]) => informer.synced)]);
  synced.catch(() => {});

  return {
    snapshots,
    contents,
    queue,
    copiesOn,
    lacks: waiting.lacks,
    reconcile(key, signal) {
      const [kind, first = '', second = ''] = key.split('/');
      switch (kind) {
        case 'content':
          return reconcileContent(first, signal);
        case 'claim':
          return snapshotPart.reconcileClaim(first, second);
        default:
          return snapshotPart.reconcile(first, second, signal);
      }
    },
    start() {
      waiting.start().then(startAll, () => {});
    },
    synced,
    sources: kinds.map(([resource, informer]) => waiting.sourceOf(resource, informer.lastHeard)),
    async stop() {
      stopped = true;
      waiting.stop();
      await Promise.all([mode.stop(), ...kinds.map(([, informer]) => informer.stop())]);
    },
  };
}

/** Reports whether no copy is recorded for the content yet. */
const isUntaken = ({ metadata, spec, status }: VolumeSnapshotContent): boolean =>
  spec.source.volumeHandle !== undefined &&
  status?.snapshotHandle === undefined &&
  metadata.deletionTimestamp === undefined;
