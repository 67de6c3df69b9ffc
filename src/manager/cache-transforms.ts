import type { Backup } from '../api/builtins/backup.ts';
import type {
  CsiStorageCapacity,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { KubeObject, ObjectMeta } from '../api/meta.ts';
import {
  ADDRESS_ANNOTATION,
  ATTACHED_NODES_ANNOTATION,
  DEFAULT_SNAPSHOT_CLASS_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  MAX_WAIT_FOR_UNMOUNT_ANNOTATION,
  MIRROR_POD_ANNOTATION,
  OUT_OF_SERVICE_TAINT,
  PAUSED_ANNOTATION,
  POPULATE_ATTEMPTS_ANNOTATION,
  POPULATED_BY_ANNOTATION,
  POPULATED_FROM_ANNOTATION,
  POPULATES_ANNOTATION,
  PORT_ANNOTATION,
  SELECTED_NODE_ANNOTATION,
  SNAPSHOT_ATTEMPT_LABEL,
  SNAPSHOT_JOB_ANNOTATION,
  VOLUMES_ATTACHED_CONDITION,
} from '../api/names.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../api/snapshot.ts';
import { droppedSource, LAST_APPLIED } from '../model/data-source/dropped-data-source.ts';
import {
  boundedClaimSpec,
  boundedFinalizers,
  boundedManifest,
  boundedOwners,
  boundedTolerations,
  boundedVolumes,
  cut,
  isShort,
} from './field-limits.ts';

/**
 * What caches keep of objects: what the controllers read, and no more. managedFields, annotations of others, such as
 * kubectl's copy of a manifest, and the images of a Node are the largest part of most objects. Each makes a new object.
 */

const ANNOTATIONS = [
  ADDRESS_ANNOTATION,
  PORT_ANNOTATION,
  PAUSED_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
];

/** Of kinds of our own: their spec and status, whole. */
export function keepOwn<T extends KubeObject>(object: T): T {
  return { ...object, metadata: keepMetadata(object.metadata) };
}

/** The same, of one in a namespace. */
export function keepBackup(backup: Backup): Backup {
  return {
    ...backup,
    metadata: { ...keepMetadata(backup.metadata), ...pick(backup.metadata, ['namespace']) },
  };
}

export function keepPersistentVolume({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: PersistentVolume): PersistentVolume {
  const { capacity, accessModes, local, claimRef, persistentVolumeReclaimPolicy } = spec;
  return {
    apiVersion,
    kind,
    metadata: keepMetadata(metadata, [ATTACHED_NODES_ANNOTATION, POPULATED_FROM_ANNOTATION]),
    spec: {
      capacity,
      accessModes,
      ...(persistentVolumeReclaimPolicy === undefined ? {} : { persistentVolumeReclaimPolicy }),
      ...(local === undefined ? {} : { local: { path: local.path } }),
      ...(claimRef === undefined ? {} : { claimRef: pick(claimRef, ['namespace', 'name', 'uid']) }),
    },
    ...(status === undefined ? {} : { status: pick(status, ['phase', 'message']) }),
  };
}

export function keepNode({ apiVersion, kind, metadata, spec, status }: KubeNode): KubeNode {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const bootID = status?.nodeInfo?.bootID;
  const taints =
    spec?.taints?.filter(
      ({ key, effect }) => key === OUT_OF_SERVICE_TAINT || effect !== 'PreferNoSchedule',
    ) ?? [];
  const kept = {
    ...(ready === undefined
      ? {}
      : { conditions: [pick(ready, ['type', 'status', 'lastTransitionTime'])] }),
    ...(bootID === undefined ? {} : { nodeInfo: { bootID } }),
  };
  return {
    apiVersion,
    kind,
    metadata: { ...keepMetadata(metadata), ...pick(metadata, ['labels']) },
    ...(taints.length === 0 ? {} : { spec: { taints } }),
    ...(Object.keys(kept).length === 0 ? {} : { status: kept }),
  };
}

export function keepCapacity(object: CsiStorageCapacity): CsiStorageCapacity {
  const { apiVersion, kind, metadata, storageClassName, nodeTopology, capacity } = object;
  return {
    apiVersion,
    kind,
    metadata: keepNamespaced(metadata, []),
    storageClassName,
    ...(nodeTopology === undefined ? {} : { nodeTopology }),
    ...(capacity === undefined ? {} : { capacity }),
  };
}

export function keepStorageClass(storageClass: StorageClass): StorageClass {
  const { apiVersion, kind, metadata, provisioner, parameters, mountOptions } = storageClass;
  const more = pick(storageClass, [
    'reclaimPolicy',
    'volumeBindingMode',
    'allowVolumeExpansion',
    'allowedTopologies',
  ]);
  return {
    apiVersion,
    kind,
    metadata: keepMetadata(metadata, [MAX_WAIT_FOR_UNMOUNT_ANNOTATION]),
    provisioner,
    ...more,
    ...(parameters === undefined ? {} : { parameters }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
  };
}

/**
 * Keeps of a pod which volumes it needs on which node, or which taints it tolerates before it has one, whether it still runs there,
 * and what it was told of them.
 */
export function transformPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  // A pod has a dozen volumes of kinds that nothing is attached for.
  const volumes = spec.volumes?.flatMap<PodVolume>(
    ({ name, persistentVolumeClaim, ephemeral, hostPath }) => {
      if (persistentVolumeClaim !== undefined) {
        return [{ name, persistentVolumeClaim: pick(persistentVolumeClaim, ['claimName']) }];
      }
      if (ephemeral !== undefined) return [{ name, ephemeral: {} }];
      return hostPath === undefined ? [] : [{ name, hostPath: pick(hostPath, ['path', 'type']) }];
    },
  );
  const conditions = status?.conditions?.filter(({ type }) => type === VOLUMES_ATTACHED_CONDITION);
  return {
    apiVersion,
    kind,
    metadata: keepNamespaced(metadata, [MIRROR_POD_ANNOTATION]),
    spec: {
      ...(spec.nodeName ? { nodeName: spec.nodeName } : {}),
      ...(spec.nodeName || spec.tolerations === undefined
        ? {}
        : { tolerations: boundedTolerations(spec.tolerations) }),
      ...(volumes === undefined ? {} : { volumes: boundedVolumes(volumes) }),
    },
    ...(status === undefined
      ? {}
      : {
          status: {
            ...pick(status, ['phase']),
            ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
            ...Object.fromEntries(
              CONTAINERS.map((list) => [list, runningOf(status[list])] as const).filter(
                ([, running]) => running.length > 0,
              ),
            ),
          },
        }),
  };
}

type PodVolume = NonNullable<Pod['spec']['volumes']>[number];

const CONTAINERS = [
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
] as const;

type ContainerStatuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;

/** The containers that run; since when is nothing to us. */
function runningOf(statuses: ContainerStatuses = []): ContainerStatuses {
  return statuses
    .filter(({ state }) => state?.running !== undefined)
    .map(({ name }) => ({ name, state: { running: {} } }));
}

/** Which PersistentVolume it has or is to get, its size, which pod it was made for, what it is made from, and who holds it. */
export function keepClaim({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: PersistentVolumeClaim): PersistentVolumeClaim {
  return {
    apiVersion,
    kind,
    metadata: withManifest(
      { ...keepNamespaced(metadata, OF_CLAIMS_METADATA), ...finalizersOf(metadata) },
      { metadata, spec },
    ),
    spec: boundedClaimSpec(pick(spec, spec.volumeName ? OF_BOUND_CLAIMS : OF_CLAIMS)),
    ...(status === undefined ? {} : { status: pick(status, ['phase', 'capacity', 'conditions']) }),
  };
}

/** The manifest of one that is to get a volume counts where it names a source that the claim has lost. */
function withManifest(
  kept: ObjectMeta,
  claim: Pick<PersistentVolumeClaim, 'metadata' | 'spec'>,
): ObjectMeta {
  const dropped = claim.spec.volumeName ? undefined : droppedSource(claim);
  if (dropped === undefined) return kept;
  const manifest = boundedManifest(claim.metadata, dropped);
  return { ...kept, annotations: { ...kept.annotations, [LAST_APPLIED]: manifest } };
}

const OF_CLAIMS_METADATA = [
  SELECTED_NODE_ANNOTATION,
  POPULATES_ANNOTATION,
  POPULATE_ATTEMPTS_ANNOTATION,
  POPULATED_BY_ANNOTATION,
];

const OF_BOUND_CLAIMS = ['volumeName', 'resources', 'dataSource', 'dataSourceRef'] as const;

const OF_CLAIMS = [
  'volumeName',
  'resources',
  'accessModes',
  'volumeMode',
  'storageClassName',
  'selector',
  'volumeAttributesClassName',
  'dataSource',
  'dataSourceRef',
] as const;

/** Whole, but for what others wrote beside it. */
export function keepSnapshot({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: VolumeSnapshot): VolumeSnapshot {
  const kept = { ...keepMetadata(metadata), ...pick(metadata, ['namespace']) };
  const { source, volumeSnapshotClassName } = spec;
  const bounded = {
    source: Object.fromEntries(
      Object.entries(source).flatMap(([key, name]) =>
        typeof name === 'string' ? [[key, cut(name)]] : [],
      ),
    ),
    ...(volumeSnapshotClassName == null
      ? {}
      : { volumeSnapshotClassName: cut(volumeSnapshotClassName) }),
  };
  return {
    apiVersion,
    kind,
    metadata: kept,
    spec: bounded,
    ...(status === undefined ? {} : { status }),
  };
}

/** That there is one, and which: what it says is read from the API server when it counts. */
export function keepReference<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  return { apiVersion, kind, metadata: keepNamespaced(metadata, []) } as T;
}

/** The same, with whom it allows what: that tells whom it may concern. */
export function keepGrant(grant: ReferenceGrant): ReferenceGrant {
  return { ...keepReference(grant), spec: grant.spec };
}

/** Whole, with the job that was named in it. */
export function keepSnapshotContent(content: VolumeSnapshotContent): VolumeSnapshotContent {
  const labels = pick(content.metadata.labels ?? {}, [SNAPSHOT_ATTEMPT_LABEL]);
  const metadata = keepMetadata(content.metadata, [SNAPSHOT_JOB_ANNOTATION]);
  return {
    ...content,
    metadata: { ...metadata, ...(Object.keys(labels).length > 0 && { labels }) },
  };
}

/** Whole, with whether it is the default. */
export function keepSnapshotClass(snapshotClass: VolumeSnapshotClass): VolumeSnapshotClass {
  return {
    ...snapshotClass,
    metadata: keepMetadata(snapshotClass.metadata, [DEFAULT_SNAPSHOT_CLASS_ANNOTATION]),
  };
}

/** There are many of these, and little of them is asked for. */
function keepNamespaced(metadata: ObjectMeta, more: readonly string[]): ObjectMeta {
  const kept = pick(metadata, ['name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp']);
  return withAnnotations({ ...kept, ...ownersOf(metadata) }, metadata, more);
}

/** `more`: annotations that are read on objects of that kind alone. */
function keepMetadata(metadata: ObjectMeta, more: readonly string[] = []): ObjectMeta {
  const kept = pick(metadata, [
    'name',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
  ]);
  return withAnnotations({ ...kept, ...finalizersOf(metadata), ...ownersOf(metadata) }, metadata, [
    ...ANNOTATIONS,
    ...more,
  ]);
}

function withAnnotations(
  kept: ObjectMeta,
  metadata: ObjectMeta,
  names: readonly string[],
): ObjectMeta {
  const all = Object.entries(pick(metadata.annotations ?? {}, names));
  const annotations = Object.fromEntries(
    all.filter(([, value]) => !isTenants(metadata) || isShort(value)),
  );
  return Object.keys(annotations).length === 0 ? kept : { ...kept, annotations };
}

/** An object without a namespace is an administrator's. */
const isTenants = ({ namespace }: ObjectMeta): boolean => namespace !== undefined;

function ownersOf(metadata: ObjectMeta): Pick<ObjectMeta, 'ownerReferences'> {
  const { ownerReferences: owners } = metadata;
  if (owners === undefined) return {};
  return { ownerReferences: isTenants(metadata) ? boundedOwners(owners) : owners };
}

function finalizersOf(metadata: ObjectMeta): Pick<ObjectMeta, 'finalizers'> {
  const { finalizers } = metadata;
  if (finalizers === undefined) return {};
  return { finalizers: isTenants(metadata) ? boundedFinalizers(finalizers) : finalizers };
}

/** Of an object, the fields that it has of these. */
function pick<T extends object, K extends keyof T>(object: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]),
  ) as Pick<T, K>;
}
