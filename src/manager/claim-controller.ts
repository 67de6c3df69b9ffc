import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { KubeObject } from '../api/meta.ts';
import { DRIVER, HOSTNAME_LABEL, SELECTED_NODE_ANNOTATION } from '../api/names.ts';
import type { Volume } from '../api/volume.ts';
import type { Rooms } from '../controllers/lib/capacity/capacity-cache.ts';
import { createCapacityReconciler } from '../controllers/lib/capacity/capacity-reconciler.ts';
import type { Reservations } from '../controllers/lib/capacity/reservations.ts';
import { createConsumers } from '../controllers/provisioner/consumers.ts';
import { createClaimReconciler } from '../controllers/provisioner/reconciler.ts';
import type { ClaimStart, Provisioned } from '../controllers/provisioner/types.ts';
import { isBeingMade } from '../controllers/snapshot/source.ts';
import type { EventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { claimOf } from '../model/claim-volume.ts';
import type { Awaited } from '../model/data-source/types.ts';
import { hostnameLabelOf } from '../model/hostname-label.ts';
import { isPvOf } from '../model/persistent-volume.ts';
import { eligibleNodes } from '../model/volume-nodes.ts';
import { sizeText } from '../storage/registry.ts';
import type { Clock } from '../workqueue/clock.ts';
import { createWorkQueue, type WorkQueue } from '../workqueue/work-queue.ts';
import { nodeStateKey } from './predicates.ts';

export interface ClaimControllerDeps {
  client: KubeClient;
  claims: Informer<PersistentVolumeClaim>;
  volumes: Informer<Volume>;
  persistentVolumes: Informer<PersistentVolume>;
  storageClasses: Informer<StorageClass>;
  nodes: Informer<KubeNode>;
  pods: Informer<Pod>;
  events: EventRecorder;
  managesNode(node: string): boolean;
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** Returns the source of a claim, by live reads. */
  resolve(claim: PersistentVolumeClaim): Promise<ClaimStart>;
  onProvisioned?: ((end: Provisioned) => void) | undefined;
  rooms: Rooms;
  /** Volumes that are being created. */
  reservations: Reservations<Volume>;
  /** Published free space of classes, and its namespace; undefined: not published. */
  capacities: Informer<CsiStorageCapacity> | undefined;
  namespace: string;
}

export interface ClaimController {
  queue: WorkQueue;
  reconcile: ReturnType<typeof createClaimReconciler>['reconcile'];
  /** Queue for publishing free space, with keys `class/node`. */
  capacityQueue: WorkQueue;
  reconcileCapacity: ReturnType<typeof createCapacityReconciler> | undefined;
  /** Requeues the claims that may wait for a changed object. */
  wakeFor(kind: Awaited['kind'], object: KubeObject): void;
  /** Requeues claims after something other than a Volume released space. */
  wakeForRoom(): void;
}

/**
 * Creates the controller that provisions volumes for claims. Call it before the informers start.
 * Run its queue once all of them are synced.
 */
export function createClaimController(deps: ClaimControllerDeps): ClaimController {
  const { claims, volumes, persistentVolumes, storageClasses, nodes, clock, random } = deps;
  const consumers = createConsumers(deps);
  const clonesOf = indexBy(volumes, (volume) =>
    isBeingMade(volume) ? volume.spec.source?.volumeName : undefined,
  );
  const unbound = indexBy(claims, ({ status, spec }) =>
    status?.phase === 'Bound' || spec.volumeName ? undefined : (spec.storageClassName ?? ''),
  );
  const byHostname = indexBy(nodes, hostnameLabelOf);
  const queue = createWorkQueue({
    clock,
    random,
    groupOf: (key) => {
      const [namespace, name = ''] = key.split('/');
      return claims.get(name, namespace)?.metadata.annotations?.[SELECTED_NODE_ANNOTATION] ?? '';
    },
    perGroup: 16,
  });
  const { reconcile, waitingFor, waitsForSource } = createClaimReconciler({
    ...deps,
    consumersOf: consumers.of,
    clonesOf,
  });

  const capacityQueue = createWorkQueue({
    clock,
    random,
    groupOf: (key) => key.slice(key.indexOf('/') + 1),
    perGroup: 1,
  });
  const { capacities } = deps;
  const reconcileCapacity = capacities && createCapacityReconciler({ ...deps, capacities });
  const enqueueCapacity = (classes: readonly StorageClass[], named: readonly string[]) => {
    if (capacities === undefined) return;
    for (const { metadata, provisioner } of classes) {
      if (provisioner === DRIVER)
        for (const node of named) capacityQueue.add(`${metadata.name}/${node}`);
    }
  };
  const names = () => nodes.list().map(({ metadata }) => metadata.name);

  const add = ({ metadata: { namespace, name } }: PersistentVolumeClaim) =>
    queue.add(`${namespace}/${name}`);
  const again = (claim: PersistentVolumeClaim) => {
    queue.forget(`${claim.metadata.namespace}/${claim.metadata.name}`);
    add(claim);
  };
  const ours = () =>
    storageClasses
      .list()
      .filter(({ provisioner }) => provisioner === DRIVER)
      .flatMap(({ metadata }) => unbound(metadata.name));
  const wake = () => {
    for (const claim of ours()) again(claim);
  };
  /**
   * Requeues the claims that may wait for space. Skips claims that wait for their source, since
   * each would read it again.
   */
  const wakeForRoom = () => {
    for (const claim of ours()) {
      if (!waitsForSource(`${claim.metadata.namespace}/${claim.metadata.name}`)) again(claim);
    }
  };

  claims.onChange(({ type, object, old }) => {
    add(object);
    wakeFor('PersistentVolumeClaim', object);
    // Requeue its Volume by name.
    if (type === 'deleted' || old?.metadata.uid !== object.metadata.uid) {
      queue.add(`pvc-${(old ?? object).metadata.uid}`);
    }
  });
  volumes.onChange(({ type, object, old }) => {
    const of = claimOf(object);
    if (of !== undefined) {
      queue.add(`${of.namespace}/${of.name}`);
      if (old === undefined) queue.add(object.metadata.name);
    }
    // The source of the Volume may have waited for the end of the clone.
    const { volumeName } = object.spec.source ?? {};
    if (volumeName !== undefined && (type === 'deleted' || !isBeingMade(object)))
      queue.add(volumeName);
    // The deleted Volume released its space.
    if (type === 'deleted') wakeForRoom();
    if (type === 'deleted' || old === undefined || sizeOf(old) !== sizeOf(object)) {
      enqueueCapacity(storageClasses.list(), eligibleNodes(object));
    }
  });
  persistentVolumes.onChange(({ object, old }) => {
    const { name } = object.metadata;
    wakeFor('PersistentVolume', object);
    const volume = volumes.get(name);
    const of = volume && claimOf(volume);
    // The volume was expanded. The claim bound to it may differ from the claim that it was
    // provisioned for.
    if (of !== undefined && old?.spec.capacity.storage !== object.spec.capacity.storage) {
      const { namespace = of.namespace, name: claim = of.name } = object.spec.claimRef ?? {};
      queue.add(`${namespace}/${claim}`);
    }
    if (volume === undefined || of === undefined || !isPvOf(object, volume)) return;
    if (old?.status?.phase !== object.status?.phase || isToGo(old) !== isToGo(object))
      queue.add(name);
  });
  storageClasses.onChange(({ object }) => {
    for (const claim of unbound(object.metadata.name)) again(claim);
    enqueueCapacity([object], names());
  });
  nodes.onChange(({ type, object, old }) => {
    if (type === 'updated' && old !== undefined && nodeStateKey(old) === nodeStateKey(object))
      return;
    wake();
    enqueueCapacity(storageClasses.list(), [object.metadata.name]);
  });
  deps.pods.onChange(({ type, object, old }) => {
    // Other changes of a pod do not unblock a claim.
    if (type === 'deleted' || (old !== undefined && old.spec.nodeName === object.spec.nodeName))
      return;
    for (const key of consumers.claimsOf(object)) queue.add(key);
  });
  // Restore objects that others changed or deleted.
  capacities?.onChange(({ object }) => {
    const hostname = object.nodeTopology?.matchLabels?.[HOSTNAME_LABEL];
    if (hostname === undefined) return;
    for (const { metadata } of byHostname(hostname))
      capacityQueue.add(`${object.storageClassName}/${metadata.name}`);
  });
  function wakeFor(kind: Awaited['kind'], object: KubeObject): void {
    for (const key of waitingFor(kind, object)) {
      queue.forget(key);
      queue.add(key);
    }
  }
  return { queue, reconcile, capacityQueue, reconcileCapacity, wakeFor, wakeForRoom };
}

const isToGo = (pv: PersistentVolume | undefined): boolean =>
  pv?.spec.persistentVolumeReclaimPolicy === 'Delete';

const sizeOf = ({ spec }: Volume): string => sizeText(spec) ?? '';
