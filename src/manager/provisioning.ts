import type { ControllerName } from '../api/controllers.ts';
import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import { CSI_STORAGE_CAPACITIES } from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import { CAPACITY_SELECTOR } from '../controllers/lib/capacity/capacity.ts';
import { createRooms, type Rooms } from '../controllers/lib/capacity/capacity-cache.ts';
import { createReservations, type Reservations } from '../controllers/lib/capacity/reservations.ts';
import { sourceFor } from '../controllers/provisioner/source.ts';
import type { SnapshotController } from '../controllers/snapshot/controller-mode.ts';
import { createExecutorWork } from '../controllers/snapshot/snapshot-jobs.ts';
import type { EventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { eligibleNodes } from '../model/volume-nodes.ts';
import type { Executor } from '../nodes/job.ts';
import type { JobWatcher } from '../nodes/job-watcher.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { createBackupController } from './backup-controller.ts';
import { transforms } from './cache-transforms.ts';
import { type ClaimController, createClaimController } from './claim-controller.ts';
import { type ClaimSourcesDeps, watchClaimSources } from './claim-sources.ts';
import type { Metrics } from './metrics/metrics.ts';
import { nodeStateKey } from './predicates.ts';
import type { Inform, Part } from './runnable.ts';
import { createSnapshotController } from './snapshot-controller.ts';
import { snapshotStorage } from './snapshot-storage.ts';

export interface ProvisioningOptions {
  /**
   * Namespace of the objects that publish free space. Unset: none are published, and the scheduler
   * does not check it.
   */
  namespace?: string | undefined;
  /** Controller that binds VolumeSnapshots. Default: auto. */
  snapshotController?: SnapshotController | undefined;
  /** Claims may refer to objects in other namespaces. Default: false. */
  crossNamespace?: boolean | undefined;
  /** Claims may start from VolumeSnapshotLinks. Default: true. */
  links?: boolean | undefined;
}

export interface ProvisioningDeps extends ProvisioningOptions {
  client: KubeClient;
  enabled: ReadonlySet<ControllerName>;
  inform: Inform;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  claims: Informer<PersistentVolumeClaim>;
  nodes: Informer<KubeNode>;
  /** Required if `enabled` has `claim`. */
  pods: Informer<Pod> | undefined;
  grants: ClaimSourcesDeps['grants'];
  executor: Executor;
  jobWatcher: JobWatcher;
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Clock;
  random: () => number;
  logger: Logger;
  absentCrds: AbsentCrds;
  retry: BackoffRange;
  workers: number | (() => number);
  metrics?: Metrics | undefined;
  /** Root directory of the kubelet on nodes. */
  kubeletRoot: string;
}

/**
 * Creates the controllers that provision volumes for claims, take snapshots and back them up. Call
 * it before the given informers start.
 */
export function createProvisioning(deps: ProvisioningDeps): Part {
  const { enabled, inform, volumes, claims, nodes, pods, metrics, namespace } = deps;
  const reservations = createReservations<Volume>(({ spec }, node) => spec.nodeName === node);
  const rooms = roomsOf(deps, reservations, (node) => snapshots?.copiesOn(node) ?? []);
  const snapshots = enabled.has('snapshot')
    ? createSnapshotController({
        ...deps,
        rooms,
        flag: deps.snapshotController ?? 'auto',
        work: createExecutorWork({ ...deps, ...snapshotStorage(deps.kubeletRoot) }),
        ...(metrics && {
          onContents: metrics.snapshots.add,
          onOperation: metrics.snapshots.onOperation,
        }),
      })
    : undefined;
  const backups =
    snapshots !== undefined && enabled.has('backup')
      ? createBackupController({
          ...deps,
          ...{ snapshots: snapshots.snapshots, contents: snapshots.contents },
          ...{ snapshotsKnown: snapshots.synced, lacksSnapshots: snapshots.lacks },
        })
      : undefined;
  const provisions = enabled.has('claim');
  const capacities =
    provisions && namespace !== undefined
      ? inform<CsiStorageCapacity>(CSI_STORAGE_CAPACITIES, transforms.csiStorageCapacities, {
          namespace,
          labelSelector: CAPACITY_SELECTOR,
        })
      : undefined;
  const woken: ClaimSourcesDeps['woken'] = (...what) => provisioner?.wakeFor(...what);
  const sources = provisions ? watchClaimSources({ ...deps, snapshots, woken }) : undefined;
  const provisioner: ClaimController | undefined =
    sources &&
    pods &&
    createClaimController({
      ...deps,
      pods,
      ...{ rooms, reservations, capacities },
      onProvisioned: metrics?.claims.onProvisioned,
      namespace: namespace ?? '',
      resolve: async (claim) =>
        sourceFor(claim, {
          gate: { crossNamespace: deps.crossNamespace ?? false, links: deps.links },
          read: sources.reads(),
          volumeNamed: (name) => volumes.get(name),
        }),
    });
  snapshots?.contents.onChange(({ type }) => {
    if (type === 'deleted') provisioner?.wakeForRoom();
  });

  return {
    start() {
      snapshots?.start();
      backups?.start();
      capacities?.start();
      sources?.start();
    },
    begin(after, run) {
      const known = Promise.all([after, nodes.synced, claims.synced, pods?.synced]);
      // A stop before the first list rejects these; `stop` below reports it.
      known.catch(() => {});
      if (provisioner !== undefined) {
        known.then(() => run('claim', provisioner.queue, provisioner.reconcile)).catch(() => {});
        const { capacityQueue, reconcileCapacity } = provisioner;
        if (capacities !== undefined && reconcileCapacity !== undefined) {
          Promise.all([known, capacities.synced])
            .then(() => run('claim', capacityQueue, reconcileCapacity, 'capacity'))
            .catch(() => {});
        }
      }
      // Started separately: a cluster may lack their CRDs, and get them later.
      if (snapshots !== undefined) {
        Promise.all([known, snapshots.synced])
          .then(() => run('snapshot', snapshots.queue, snapshots.reconcile))
          .catch(() => {});
      }
      if (backups !== undefined) {
        Promise.all([known, backups.synced])
          .then(() => run('backup', backups.queue, backups.reconcile))
          .catch(() => {});
      }
    },
    sources: [...(snapshots?.sources ?? []), ...(backups?.sources ?? [])],
    async stop() {
      await Promise.all([snapshots?.stop(), backups?.stop(), capacities?.stop(), sources?.stop()]);
    },
  };
}

/** Creates the cache of free space that claims and snapshots share. */
function roomsOf(
  { executor, clock, volumes, nodes }: ProvisioningDeps,
  reservations: Reservations<Volume>,
  copiesOn: Parameters<typeof createRooms>[0]['copiesOn'],
): Rooms {
  const volumesOnNode = indexBy(volumes, eligibleNodes);
  const rooms = createRooms({
    ...{ executor, clock, copiesOn },
    // A Volume may be in both lists. The reservation counts, since the cache has its earlier size.
    volumesOn: (node) => [
      ...new Map(
        [...volumesOnNode(node), ...reservations.on(node)].map((volume) => [
          volume.metadata.name,
          volume,
        ]),
      ).values(),
    ],
  });
  // Registered before the handlers that requeue what waits for space.
  volumes.onChange(({ type, object }) => {
    if (type === 'deleted') for (const node of eligibleNodes(object)) rooms.forget(node);
  });
  nodes.onChange(({ object, old }) => {
    if (old === undefined || nodeStateKey(old) !== nodeStateKey(object))
      rooms.forget(object.metadata.name);
  });
  return rooms;
}
