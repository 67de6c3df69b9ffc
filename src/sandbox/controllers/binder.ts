import { isDeepStrictEqual } from 'node:util';
import type { StorageClass } from '../../api/core.ts';
import { STORAGE_PROVISIONER_ANNOTATIONS } from '../../api/names.ts';
import { CLAIM_PROTECTION, PV_PROTECTION } from '../builtin/storage.ts';
import type { StoredObject } from '../kind.ts';
import { type Cluster, settle } from '../objects/cluster.ts';
import { keyOf } from '../store.ts';
import {
  fits,
  refersTo,
  SELECTED_NODE,
  type StoredClaim,
  smallestFirst,
  type Volume,
} from './fit.ts';

const PVS = 'persistentvolumes';
const CLAIMS = 'persistentvolumeclaims';
const PODS = 'pods';
const CLASSES = 'storageclasses.storage.k8s.io';
const WATCHED = new Set([PVS, CLAIMS, PODS, CLASSES]);
const BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';

interface Pod extends StoredObject {
  spec: { nodeName?: string; volumes?: { persistentVolumeClaim?: { claimName: string } }[] };
}

/**
 * Stands in for the PersistentVolume controller, the scheduler's part in binding, and both
 * protection controllers. Acts after the write that triggers it.
 */
export function bindVolumes(cluster: Cluster): void {
  const { store } = cluster;
  const changed = new Map<string, Set<string>>();
  const reconcile = () => {
    const volumes = changed.get(PVS) ?? new Set();
    const onlyVolumes = changed.size === 1 && volumes.size > 0;
    changed.clear();
    const claims = listClaims(cluster);
    for (const claim of claims) reconcileClaim(cluster, claim);
    // Without claims, volumes do not affect each other: thousands can be created in linear time.
    const apart = claims.length === 0 && onlyVolumes;
    for (const volume of apart ? find(cluster, volumes) : listVolumes(cluster))
      reconcileVolume(cluster, volume);
  };
  store.subscribe(({ table, object }) => {
    if (!WATCHED.has(table)) return;
    if (changed.size === 0) setImmediate(reconcile);
    changed.set(
      table,
      (changed.get(table) ?? new Set()).add(keyOf(undefined, object.metadata.name)),
    );
  });
}

const find = ({ store }: Cluster, keys: Set<string>) =>
  [...keys].flatMap((key) => (store.get(PVS, key) as Volume | undefined) ?? []);
const listVolumes = ({ store }: Cluster) => store.list(PVS) as Volume[];
const listClaims = ({ store }: Cluster) => store.list(CLAIMS) as StoredClaim[];

function reconcileClaim(cluster: Cluster, claim: StoredClaim): void {
  if (claim.metadata.deletionTimestamp !== undefined) {
    if (podsOf(cluster, claim).length === 0)
      write(cluster, CLAIMS, claim, withoutFinalizer(claim, CLAIM_PROTECTION));
    return;
  }
  const volume = volumeFor(cluster, claim);
  const lost =
    volume === undefined && claim.spec.volumeName !== undefined && claim.status?.phase === 'Bound';
  const next = withFinalizer(claim, CLAIM_PROTECTION);
  if (volume !== undefined) bind(cluster, next, claim, volume);
  else if (lost)
    write(cluster, CLAIMS, claim, { ...next, status: { ...claim.status, phase: 'Lost' } });
  else write(cluster, CLAIMS, claim, withProvisioner(cluster, next));
}

/** Requests a volume from the class's provisioner by annotations, once its node is known. */
function withProvisioner(cluster: Cluster, claim: StoredClaim): StoredClaim {
  const { metadata, spec } = claim;
  const provisioner = classOf(cluster, claim)?.provisioner;
  const isExternal = provisioner !== undefined && !provisioner.startsWith('kubernetes.io/');
  const waits =
    waitsForConsumer(cluster, claim) && metadata.annotations?.[SELECTED_NODE] === undefined;
  if (!isExternal || waits || spec.volumeName !== undefined) return claim;
  const added = Object.fromEntries(
    STORAGE_PROVISIONER_ANNOTATIONS.map((name) => [name, provisioner]),
  );
  return {
    ...claim,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } },
  };
}

function volumeFor(cluster: Cluster, claim: StoredClaim): Volume | undefined {
  if (claim.spec.volumeName !== undefined) {
    const named = cluster.store.get(PVS, keyOf(undefined, claim.spec.volumeName)) as
      | Volume
      | undefined;
    return named !== undefined && (named.spec.claimRef === undefined || refersTo(named, claim))
      ? named
      : undefined;
  }
  const volumes = listVolumes(cluster).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const reserved = volumes.find((volume) => refersTo(volume, claim));
  if (reserved !== undefined) return reserved;
  // The scheduler chooses and reserves a volume.
  if (waitsForConsumer(cluster, claim)) return undefined;
  return (
    volumes
      .filter((volume) => volume.spec.claimRef === undefined && fits(volume, claim))
      // The smallest sufficient volume wastes least.
      .sort(smallestFirst)[0]
  );
}

const classOf = ({ store }: Cluster, { spec }: StoredClaim) =>
  store.get(CLASSES, keyOf(undefined, spec.storageClassName ?? '')) as StorageClass | undefined;

const waitsForConsumer = (cluster: Cluster, claim: StoredClaim) =>
  classOf(cluster, claim)?.volumeBindingMode === 'WaitForFirstConsumer';

function podsOf({ store }: Cluster, { metadata }: StoredClaim): Pod[] {
  return (store.list(PODS) as Pod[]).filter(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      pod.spec.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === metadata.name),
  );
}

function bind(cluster: Cluster, next: StoredClaim, claim: StoredClaim, volume: Volume): void {
  const { namespace, name, uid } = claim.metadata;
  const byController = volume.spec.claimRef === undefined;
  const claimChosen = claim.spec.volumeName === undefined;
  write(cluster, PVS, volume, {
    ...volume,
    metadata: byController ? annotated(volume, BY_CONTROLLER) : volume.metadata,
    spec: {
      ...volume.spec,
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...volume.spec.claimRef,
        namespace,
        name,
        uid,
      },
    },
  });
  const { accessModes, capacity } = volume.spec;
  write(cluster, CLAIMS, claim, {
    ...next,
    metadata: annotated(
      claimChosen ? { ...next, metadata: annotated(next, BY_CONTROLLER) } : next,
      'pv.kubernetes.io/bind-completed',
    ),
    spec: { ...next.spec, volumeName: volume.metadata.name },
    // The capacity of a bound claim is that of its file system, which grows after its volume.
    status: {
      ...claim.status,
      phase: 'Bound',
      accessModes,
      ...(claim.status?.phase === 'Bound' ? {} : { capacity }),
    },
  });
}

function reconcileVolume(cluster: Cluster, volume: Volume): void {
  const phase = phaseOf(cluster, volume);
  const deleting = volume.metadata.deletionTimestamp !== undefined;
  const next = !deleting
    ? withFinalizer(volume, PV_PROTECTION)
    : phase === 'Bound'
      ? volume
      : withoutFinalizer(volume, PV_PROTECTION);
  write(cluster, PVS, volume, { ...next, status: { ...volume.status, phase } });
}

function phaseOf({ store }: Cluster, { metadata, spec: { claimRef } }: Volume): string {
  if (claimRef === undefined) return 'Available';
  const claim = store.get(CLAIMS, keyOf(claimRef.namespace, claimRef.name ?? '')) as
    | StoredClaim
    | undefined;
  if (claimRef.uid === undefined) return 'Available';
  if (claim?.metadata.uid !== claimRef.uid) return 'Released';
  return claim.spec.volumeName === metadata.name ? 'Bound' : 'Available';
}

function write(cluster: Cluster, table: string, old: StoredObject, next: StoredObject): void {
  if (!isDeepStrictEqual(old, next)) settle(cluster, table, next);
}

function annotated({ metadata }: StoredObject, annotation: string): StoredObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, [annotation]: 'yes' } };
}

function withFinalizer<T extends StoredObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}

function withoutFinalizer<T extends StoredObject>(object: T, finalizer: string): T {
  const { finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) return object;
  const left = finalizers.filter((name) => name !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers: left } };
}
