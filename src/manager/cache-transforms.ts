import type { Backup } from '../api/builtins/backup.ts';
import type {
  CsiStorageCapacity,
  Deployment,
  KubeNode,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Leftover } from '../api/leftover.ts';
import type { KubeObject } from '../api/meta.ts';
import {
  ADDRESS_ANNOTATION,
  ATTACHED_NODES_ANNOTATION,
  DEFAULT_SNAPSHOT_CLASS_ANNOTATION,
  ERROR_TIME_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  MAX_WAIT_FOR_UNMOUNT_ANNOTATION,
  MINION_ANNOTATION,
  MIRROR_POD_ANNOTATION,
  OUT_OF_SERVICE_TAINT,
  PARAMETERS_ANNOTATION,
  PAUSED_ANNOTATION,
  POPULATE_ATTEMPTS_ANNOTATION,
  POPULATED_BY_ANNOTATION,
  POPULATED_FROM_ANNOTATION,
  POPULATES_ANNOTATION,
  PORT_ANNOTATION,
  REASON_ANNOTATION,
  RETRY_ANNOTATION,
  SELECTED_NODE_ANNOTATION,
  SNAPSHOT_ATTEMPT_LABEL,
  SNAPSHOT_JOB_ANNOTATION,
  VOLUMES_ATTACHED_CONDITION,
} from '../api/names.ts';
import type { PopulatorDefinition, VolumePopulator } from '../api/populator.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../api/snapshot.ts';
import type { Volume } from '../api/volume.ts';
import { transformOf } from './field-paths.ts';
import {
  atMost,
  boundedFinalizers,
  cutName,
  cutPath,
  cutQualifiedName,
  distinctNames,
  emptyIfLong,
  only,
  presence,
  shortValues,
  unlessEmpty,
  untilBound,
  untilScheduled,
  where,
  withLostSource,
} from './field-rules.ts';

type Condition = { type: string };
type Taint = { key: string; effect: string };
type PodVolume = NonNullable<Pod['spec']['volumes']>[number];
type ContainerStatus = { state?: { running?: object } };

const isReady = ({ type }: Condition) => type === 'Ready';
const isVolumesAttached = ({ type }: Condition) => type === VOLUMES_ATTACHED_CONDITION;
const keepsPodsOff = ({ key, effect }: Taint) =>
  key === OUT_OF_SERVICE_TAINT || effect !== 'PreferNoSchedule';
const mayBeAttached = ({ persistentVolumeClaim, ephemeral, hostPath }: PodVolume) =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined || hostPath !== undefined;
const isRunning = ({ state }: ContainerStatus) => state?.running !== undefined;

const OWN_ANNOTATIONS = [
  ADDRESS_ANNOTATION,
  PORT_ANNOTATION,
  PAUSED_ANNOTATION,
  FORGET_NODE_ANNOTATION,
  RETRY_ANNOTATION,
  FORCE_LVCREATE_ANNOTATION,
];

const IDENTITY = [
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.uid',
  'metadata.resourceVersion',
] as const;

/** Fields of cluster-scoped objects, which administrators write. */
const clusterScoped = (...annotations: readonly string[]) =>
  [
    ...IDENTITY,
    'metadata.generation',
    'metadata.creationTimestamp',
    'metadata.deletionTimestamp',
    'metadata.finalizers',
    'metadata.ownerReferences',
    ['metadata.annotations', only(...OWN_ANNOTATIONS, ...annotations), unlessEmpty],
  ] as const;

/** Fields of namespaced objects, which tenants write: bounded. */
const TENANTS = [
  ...IDENTITY,
  'metadata.namespace',
  'metadata.deletionTimestamp',
  ['metadata.ownerReferences', atMost(4)],
  ['metadata.ownerReferences[].apiVersion', cutName],
  ['metadata.ownerReferences[].kind', cutName],
  ['metadata.ownerReferences[].name', cutName],
  ['metadata.ownerReferences[].uid', cutName],
  'metadata.ownerReferences[].controller',
  'metadata.ownerReferences[].blockOwnerDeletion',
] as const;

/** Fields of namespaced objects whose spec and status are kept whole. */
const TENANTS_OWN = [
  ...TENANTS,
  'metadata.generation',
  'metadata.creationTimestamp',
  ['metadata.finalizers', boundedFinalizers],
  ['metadata.annotations', only(...OWN_ANNOTATIONS), shortValues, unlessEmpty],
] as const;

/**
 * Fields of each kind that caches keep: only those that controllers read. The largest part of most
 * objects are managedFields, annotations such as kubectl's copy of a manifest, and the images of a
 * Node.
 */
export const transforms = {
  volumes: transformOf<Volume>()([...clusterScoped(), 'spec', 'status']),

  leftovers: transformOf<Leftover>()([...clusterScoped(), 'spec', 'status']),

  backups: transformOf<Backup>()([...TENANTS_OWN, 'spec', 'status']),

  populatorDefinitions: transformOf<PopulatorDefinition>()([...clusterScoped(), 'spec']),

  volumePopulators: transformOf<VolumePopulator>()([
    ...IDENTITY,
    'metadata.deletionTimestamp',
    'sourceKind',
  ]),

  nodes: transformOf<KubeNode>()([
    ...clusterScoped(MINION_ANNOTATION),
    'metadata.labels',
    ['spec', unlessEmpty],
    ['spec.taints', where(keepsPodsOff), unlessEmpty],
    ['status', unlessEmpty],
    ['status.nodeInfo', unlessEmpty],
    'status.nodeInfo.bootID',
    ['status.conditions', where(isReady), unlessEmpty],
    'status.conditions[].type',
    'status.conditions[].status',
    'status.conditions[].lastTransitionTime',
  ]),

  persistentVolumes: transformOf<PersistentVolume>()([
    ...clusterScoped(ATTACHED_NODES_ANNOTATION, POPULATED_FROM_ANNOTATION),
    'spec.capacity',
    'spec.accessModes',
    'spec.persistentVolumeReclaimPolicy',
    'spec.local.path',
    'spec.claimRef.namespace',
    'spec.claimRef.name',
    'spec.claimRef.uid',
    'status.phase',
    'status.message',
  ]),

  persistentVolumeClaims: transformOf<PersistentVolumeClaim>()([
    ...TENANTS,
    ['metadata.finalizers', boundedFinalizers],
    [
      'metadata.annotations',
      only(
        SELECTED_NODE_ANNOTATION,
        POPULATES_ANNOTATION,
        POPULATE_ATTEMPTS_ANNOTATION,
        POPULATED_BY_ANNOTATION,
      ),
      shortValues,
      withLostSource,
      unlessEmpty,
    ],
    ['spec.volumeName', cutName],
    'spec.resources.requests.storage',
    'spec.resources.limits.storage',
    ['spec.dataSource.apiGroup', cutName],
    ['spec.dataSource.kind', cutName],
    ['spec.dataSource.name', cutName],
    ['spec.dataSource.namespace', cutName],
    ['spec.dataSourceRef.apiGroup', cutName],
    ['spec.dataSourceRef.kind', cutName],
    ['spec.dataSourceRef.name', cutName],
    ['spec.dataSourceRef.namespace', cutName],
    ['spec.accessModes', untilBound, distinctNames],
    ['spec.volumeMode', untilBound, cutName],
    ['spec.storageClassName', untilBound, cutName],
    ['spec.volumeAttributesClassName', cutName],
    ['spec.selector', untilBound, emptyIfLong],
    'status.phase',
    'status.capacity',
    'status.conditions',
  ]),

  pods: transformOf<Pod>()([
    ...TENANTS,
    ['metadata.annotations', only(MIRROR_POD_ANNOTATION), shortValues, unlessEmpty],
    'spec.nodeName',
    ['spec.tolerations', untilScheduled, atMost(64)],
    ['spec.tolerations[].key', cutQualifiedName],
    'spec.tolerations[].operator',
    ['spec.tolerations[].value', cutName],
    'spec.tolerations[].effect',
    'spec.tolerations[].tolerationSeconds',
    // A pod has a dozen volumes of kinds that are never attached.
    ['spec.volumes', where(mayBeAttached), atMost(256)],
    ['spec.volumes[].name', cutName],
    ['spec.volumes[].persistentVolumeClaim.claimName', cutName],
    ['spec.volumes[].ephemeral', presence],
    ['spec.volumes[].hostPath.path', cutPath],
    'spec.volumes[].hostPath.type',
    'status.phase',
    ['status.conditions', where(isVolumesAttached), unlessEmpty],
    ['status.containerStatuses', where(isRunning), unlessEmpty],
    'status.containerStatuses[].name',
    ['status.containerStatuses[].state.running', presence],
    ['status.initContainerStatuses', where(isRunning), unlessEmpty],
    'status.initContainerStatuses[].name',
    ['status.initContainerStatuses[].state.running', presence],
    ['status.ephemeralContainerStatuses', where(isRunning), unlessEmpty],
    'status.ephemeralContainerStatuses[].name',
    ['status.ephemeralContainerStatuses[].state.running', presence],
  ]),

  /** Pods that populate volumes, in the daemon's namespace. */
  populatorPods: transformOf<Pod>()([
    ...IDENTITY,
    'metadata.namespace',
    'metadata.creationTimestamp',
    'metadata.deletionTimestamp',
    'metadata.labels',
    'metadata.annotations',
    'spec.nodeName',
    'status.phase',
    'status.reason',
    'status.message',
    'status.conditions',
    'status.containerStatuses[].name',
    'status.containerStatuses[].state',
  ]),

  storageClasses: transformOf<StorageClass>()([
    ...clusterScoped(MAX_WAIT_FOR_UNMOUNT_ANNOTATION),
    'provisioner',
    'parameters',
    'mountOptions',
    'reclaimPolicy',
    'volumeBindingMode',
    'allowVolumeExpansion',
    'allowedTopologies',
  ]),

  csiStorageCapacities: transformOf<CsiStorageCapacity>()([
    ...TENANTS,
    'storageClassName',
    'nodeTopology',
    'capacity',
  ]),

  volumeSnapshots: transformOf<VolumeSnapshot>()([
    ...TENANTS_OWN,
    ['spec.source.persistentVolumeClaimName', cutName],
    ['spec.source.volumeSnapshotContentName', cutName],
    ['spec.volumeSnapshotClassName', cutName],
    'status',
  ]),

  volumeSnapshotContents: transformOf<VolumeSnapshotContent>()([
    ...clusterScoped(
      ...[SNAPSHOT_JOB_ANNOTATION, REASON_ANNOTATION],
      ...[PARAMETERS_ANNOTATION, ERROR_TIME_ANNOTATION],
    ),
    ['metadata.labels', only(SNAPSHOT_ATTEMPT_LABEL), unlessEmpty],
    'spec',
    'status',
  ]),

  volumeSnapshotClasses: transformOf<VolumeSnapshotClass>()([
    ...clusterScoped(DEFAULT_SNAPSHOT_CLASS_ANNOTATION),
    'driver',
    'deletionPolicy',
    'parameters',
  ]),

  referenceGrants: transformOf<ReferenceGrant>()([...TENANTS, 'spec']),

  leases: transformOf<Lease>()([...IDENTITY, 'metadata.namespace', 'spec']),

  deployments: transformOf<Deployment>()([
    ...IDENTITY,
    'metadata.namespace',
    'status.readyReplicas',
  ]),

  /** Pods of a standard controller, of which matters whether they are ready. */
  standardPods: transformOf<Pod>()([
    ...IDENTITY,
    'metadata.namespace',
    'metadata.deletionTimestamp',
    'spec.nodeName',
    ['status.conditions', where(isReady), unlessEmpty],
    'status.conditions[].type',
    'status.conditions[].status',
  ]),

  /** Objects of any kind that claims wait for. Decisions read their fields from the API server. */
  references: transformOf<KubeObject>()(TENANTS),
};
