/** Names that Stowage writes into a cluster: groups, labels, annotations, finalizers, reasons. */

/** Group of MetalK8s's Volume, kept for compatibility with its clusters and manifests. */
export const VOLUME_GROUP = 'storage.metalk8s.scality.com';
export const VOLUME_VERSION = 'v1alpha1';
export const VOLUME_API_VERSION = `${VOLUME_GROUP}/${VOLUME_VERSION}`;

/** Finalizer of a Volume and its PersistentVolume, as in MetalK8s. */
export const PROTECTION_FINALIZER = 'storage.metalk8s.scality.com/volume-protection';

/** Group of Stowage's own kinds. */
export const STOWAGE_GROUP = 'stowage.dev';
export const STOWAGE_VERSION = 'v1alpha1';
export const STOWAGE_API_VERSION = `${STOWAGE_GROUP}/${STOWAGE_VERSION}`;

/**
 * Annotations with the address of a node, if not its name. No other annotation of
 * a Node configures a transport.
 */
export const ADDRESS_ANNOTATION = 'stowage.dev/address';
export const PORT_ANNOTATION = 'stowage.dev/port';
export const MINION_ANNOTATION = 'stowage.dev/salt-minion';

/**
 * Annotations of an Event, or of a VolumeSnapshotContent with an error: code of the reason
 * (reasons.ts), and its parameters as JSON.
 */
export const REASON_ANNOTATION = 'stowage.dev/reason';
export const PARAMETERS_ANNOTATION = 'stowage.dev/parameters';
/**
 * Annotation of a VolumeSnapshotContent: time of the error that the reason belongs to. Another
 * version may have written a newer error.
 */
export const ERROR_TIME_ANNOTATION = 'stowage.dev/error-time';

/** Annotation of the leading daemon's Lease: its settings, as JSON. */
export const LEADER_ANNOTATION = 'stowage.dev/leader';

/** Annotation of an installed daemon's Deployment: values given to `stowage install`, as JSON. */
export const INSTALL_VALUES_ANNOTATION = 'stowage.dev/install-values';

/**
 * Annotation of a Volume, VolumeSnapshotContent, Backup, Leftover or Node. Any value except "false"
 * prevents changes on nodes.
 */
export const PAUSED_ANNOTATION = 'stowage.dev/paused';

/**
 * Annotation of a Volume: requests a retry of what its condition Ready reports. The value is the
 * condition's `lastUpdateTime`, so that each request is for one failure.
 */
export const RETRY_ANNOTATION = 'stowage.dev/retry';

/**
 * Annotation of a Volume, VolumeSnapshotContent or Backup whose node is lost: its deletion does not
 * wait for the node. The value is the object's UID, so that a copied manifest has no effect.
 */
export const FORGET_NODE_ANNOTATION = 'stowage.dev/forget-node';

/**
 * Annotation of a PersistentVolume: JSON list of nodes that its device is or may
 * be attached to, possibly empty.
 */
export const ATTACHED_NODES_ANNOTATION = 'stowage.dev/attached-nodes';

/**
 * Annotation of a StorageClass: `--max-wait-for-unmount` of its volumes, as a
 * duration such as `10m`, or `never`.
 */
export const MAX_WAIT_FOR_UNMOUNT_ANNOTATION = 'stowage.dev/max-wait-for-unmount';

/**
 * Condition of a pod: whether all its volumes that Stowage attaches are attached. A pod
 * can use it as a readiness gate.
 */
export const VOLUMES_ATTACHED_CONDITION = 'stowage.dev/VolumesAttached';

/** Reasons of the condition VolumesAttached. */
export const VOLUMES_ATTACHED_REASON = {
  attached: 'VolumesAttached',
  notAttached: 'VolumesNotAttached',
} as const;

/** Annotation of Kubernetes on a mirror pod: the kubelet runs the pod from a file of its node. */
export const MIRROR_POD_ANNOTATION = 'kubernetes.io/config.mirror';

/** Taint of Kubernetes on a Node whose machine is declared off. */
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service';

/**
 * Annotation of MetalK8s on a Volume: lvcreate may overwrite what it finds. The annotation does not
 * name the data, so here it is no consent without spec.overwrite.
 */
export const FORCE_LVCREATE_ANNOTATION = 'metalk8s.scality.com/force-lvcreate';

/**
 * Provisioner of classes whose volumes exist before their claims: nothing provisions for a claim.
 */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/**
 * Name of the provisioner and snapshotter. A DNS subdomain, so that a
 * CSIDriver object can have it, too.
 */
export const DRIVER = 'volume.stowage.dev';

/**
 * Annotation of Kubernetes on a PersistentVolume. Without it, kube-controller-manager marks a
 * `local` one with policy Delete as Failed.
 */
export const PROVISIONED_BY_ANNOTATION = 'pv.kubernetes.io/provisioned-by';

/**
 * Annotation of Kubernetes on a claim that waits for its first pod: the
 * node that the scheduler chose.
 */
export const SELECTED_NODE_ANNOTATION = 'volume.kubernetes.io/selected-node';

/** Label of Nodes that node affinities and topologies select by. */
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** Label of namespaces whose pods may reach the daemon's port: `allowed`. */
export const METRICS_LABEL = 'stowage.dev/metrics';

/** Annotations of Kubernetes with the provisioner of a claim; the second is the former name. */
export const STORAGE_PROVISIONER_ANNOTATIONS = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
] as const;

/** Names of the snapshot API. */
export const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';
export const DEFAULT_SNAPSHOT_CLASS_ANNOTATION = 'snapshot.storage.kubernetes.io/is-default-class';
export const SNAPSHOT_FINALIZERS = {
  /** On a VolumeSnapshot that a claim is being provisioned from. */
  asSource: 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
  /** On a VolumeSnapshot that has a content. */
  bound: 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
  /** On a VolumeSnapshotContent. */
  content: 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection',
  /** On a claim that a snapshot is being taken of, or another claim is being provisioned from. */
  claimAsSource: 'snapshot.storage.kubernetes.io/pvc-as-source-protection',
} as const;

/**
 * Annotation of a VolumeSnapshotContent: its latest job on a node, as JSON (`JobNote`), written
 * before the job is submitted. By it, later processes know where parts of the snapshot may be.
 */
export const SNAPSHOT_JOB_ANNOTATION = 'stowage.dev/snapshot-job';

/**
 * Label beside that annotation: number of jobs so far. When a snapshot is deleted, the standard
 * snapshot-controller rewrites all annotations from its cache, and so removes newer ones.
 */
export const SNAPSHOT_ATTEMPT_LABEL = 'stowage.dev/snapshot-attempt';

/** Name of the VolumePopulator for VolumeSnapshotLinks, as in KEP-3294. */
export const SNAPSHOT_LINK_POPULATOR = 'volumesnapshotlink';

/** Group of the volume populator API. */
export const POPULATOR_GROUP = 'populator.storage.k8s.io';

/** Finalizer of a claim that a populator fills, until everything else of the fill is removed. */
export const POPULATE_FINALIZER = 'stowage.dev/populate-target-protection';

/**
 * Annotation of a PersistentVolume that a populator filled: the data source, as `NAMESPACE/NAME`.
 */
export const POPULATED_FROM_ANNOTATION = 'stowage.dev/populated-from';

/**
 * Annotation of a prime claim and its pod: their target claim, as
 * `NAMESPACE/NAME`; the label has its UID.
 */
export const POPULATES_ANNOTATION = 'stowage.dev/populates';
export const POPULATES_LABEL = 'stowage.dev/populates-uid';

/**
 * Annotations of a prime claim: record of its pods, as JSON (`Attempts`), and
 * UID of the pod that filled it.
 */
export const POPULATE_ATTEMPTS_ANNOTATION = 'stowage.dev/populate-attempts';
export const POPULATED_BY_ANNOTATION = 'stowage.dev/populated-by';

/**
 * Annotation of a Secret: comma-separated hosts that may receive its keys in an Authorization
 * header, with the port unless it is the scheme's default. Without the annotation, no host may:
 * those who name a Secret need not be allowed to read it.
 */
export const AUTHORIZATION_HOSTS_ANNOTATION = 'stowage.dev/authorization-hosts';

/** Finalizer of a Backup, until only the archive is left on its node. */
export const BACKUP_FINALIZER = 'stowage.dev/backup-protection';

/**
 * Annotation of a pod that fills a volume: UID and version of its
 * PopulatorDefinition and data source.
 */
export const POPULATE_ORIGIN_ANNOTATION = 'stowage.dev/populate-origin';

/** Annotation of such a pod: digest of the tolerations that it has from a pod of the claim. */
export const POPULATE_TOLERATIONS_ANNOTATION = 'stowage.dev/populate-tolerations';

/** Label with the value 'true' on ClusterRoles that permit the daemon to read data sources. */
export const AGGREGATE_LABEL = 'stowage.dev/aggregate-to-populator';

/** Annotation with the value 'true' on the class of claims that name none. */
export const DEFAULT_CLASS_ANNOTATION = 'storageclass.kubernetes.io/is-default-class';

/** Former name of that annotation, which Kubernetes still accepts. */
export const BETA_DEFAULT_CLASS_ANNOTATION = 'storageclass.beta.kubernetes.io/is-default-class';

/** Component that reports events, and field manager of writes. */
export const COMPONENT = 'stowage';

/** Reasons of events, as in MetalK8s. */
export const EVENT = {
  stateTransition: 'StateTransition',
  pvCreation: 'PvCreation',
  pvDeletion: 'PvDeletion',
  volumeFinalization: 'VolumeFinalization',
  // On pods, as in kube-controller-manager.
  failedAttachVolume: 'FailedAttachVolume',
  successfulAttachVolume: 'SuccessfulAttachVolume',
  /** On a Volume: force-detached from a lost node without verification. */
  forcedDetach: 'ForcedDetach',
} as const;

/** Reasons of events on claims, as in external-provisioner and external-resizer. */
export const CLAIM_EVENT = {
  provisioning: 'Provisioning',
  failed: 'ProvisioningFailed',
  resizeFailed: 'VolumeResizeFailed',
  modifyFailed: 'VolumeModifyFailed',
} as const;

/** Reasons of events on StorageClasses: whether a node's room for their volumes is known. */
export const ROOM_EVENT = { unknown: 'RoomUnknown', known: 'RoomKnown' } as const;

/**
 * Reasons of events on VolumeSnapshots and their contents, as in the standard
 * snapshot-controller and its sidecar.
 */
export const SNAPSHOT_EVENT = {
  validation: 'SnapshotValidationError',
  defaultClassFailed: 'SetDefaultSnapshotClassFailed',
  contentCreationFailed: 'SnapshotContentCreationFailed',
  contentMissing: 'SnapshotContentMissing',
  contentMismatch: 'SnapshotContentMismatch',
  contentMisbound: 'SnapshotContentMisbound',
  deletePending: 'SnapshotDeletePending',
  creating: 'CreatingSnapshot',
  ready: 'SnapshotReady',
  creationFailed: 'SnapshotCreationFailed',
  checkFailed: 'SnapshotContentCheckandUpdateFailed',
  deleteFailed: 'SnapshotDeleteError',
} as const;

/**
 * Reasons of events on claims that populators fill: the first as in volume-data-source-validator,
 * the others as in lib-volume-populator.
 */
export const POPULATOR_EVENT = {
  unrecognized: 'UnrecognizedDataSourceKind',
  sourceNotFound: 'PopulatorDataSourceNotFound',
  sourceRefused: 'PopulatorDataSourceRefused',
  primeFailed: 'PopulatorPVCPrimeCreationError',
  creationFailed: 'PopulatorCreationError',
  created: 'PopulatorCreated',
  failed: 'PopulatorFailed',
  finished: 'PopulatorFinished',
} as const;

/** Reasons of events on Backups. */
export const BACKUP_EVENT = {
  waiting: 'BackupWaiting',
  completed: 'BackupCompleted',
  failed: 'BackupFailed',
} as const;

/** Condition of a Volume: why it was not provisioned, for the owner of its claim. */
export const PROVISIONED = 'Provisioned';

/** Condition of a Volume that failed permanently, which kstatus reads. Its reason is Ready's. */
export const STALLED = 'Stalled';

/**
 * Reasons of the condition Ready. Reasons up to UnavailableError are MetalK8s's, except
 * FreeExtentsCarryData.
 */
export const READY_REASON = {
  pending: 'Pending',
  terminating: 'Terminating',
  internalError: 'InternalError',
  creationError: 'CreationError',
  freeExtentsCarryData: 'FreeExtentsCarryData',
  destructionError: 'DestructionError',
  unavailableError: 'UnavailableError',
  directoryNotMounted: 'DirectoryNotMounted',
  pathAstray: 'PathAstray',
  available: 'Available',
  nodeUnreachable: 'NodeUnreachable',
  nodeUnclear: 'NodeUnclear',
  attaching: 'Attaching',
  attachmentDisabled: 'AttachmentDisabled',
  waitingForSource: 'WaitingForSource',
  adoptionRefused: 'AdoptionRefused',
} as const;
export type ReadyReason = (typeof READY_REASON)[keyof typeof READY_REASON];

/** Reasons of the condition Paused. */
export const PAUSED_REASON = { paused: 'Paused', resumed: 'Resumed' } as const;

/** Versions of ReferenceGrant with equal schemas, newest first. */
export const REFERENCE_GRANT_VERSIONS = ['v1', 'v1beta1'] as const;
