/** Every name that Stowage writes into a cluster: groups, labels, annotations, finalizers, reasons. */

/** The group of MetalK8s's Volume, kept so that its clusters and manifests go on working. */
export const VOLUME_GROUP = 'storage.metalk8s.scality.com';
export const VOLUME_VERSION = 'v1alpha1';
export const VOLUME_API_VERSION = `${VOLUME_GROUP}/${VOLUME_VERSION}`;

/** On a Volume and on its PersistentVolume, as MetalK8s names it. */
export const PROTECTION_FINALIZER = 'storage.metalk8s.scality.com/volume-protection';

/** The group of what only Stowage has. */
export const STOWAGE_GROUP = 'stowage.dev';
export const STOWAGE_VERSION = 'v1alpha1';
export const STOWAGE_API_VERSION = `${STOWAGE_GROUP}/${STOWAGE_VERSION}`;

/** Where a node is reached, if not under its own name. Only these of a Node's annotations steer a transport. */
export const ADDRESS_ANNOTATION = 'stowage.dev/address';
export const PORT_ANNOTATION = 'stowage.dev/port';
export const MINION_ANNOTATION = 'stowage.dev/salt-minion';

/** On an Event, and on a VolumeSnapshotContent that has an error: the code of its reason (reasons.ts), and the parameters of that as JSON. */
export const REASON_ANNOTATION = 'stowage.dev/reason';
export const PARAMETERS_ANNOTATION = 'stowage.dev/parameters';
/** On a VolumeSnapshotContent, the time of the error that its reason is of: another version may have written another one since. */
export const ERROR_TIME_ANNOTATION = 'stowage.dev/error-time';

/** On the Lease of the daemon that leads: what it is, as JSON. */
export const LEADER_ANNOTATION = 'stowage.dev/leader';

/** On the Deployment of an installed daemon: what runs of `stowage install` asked for, as JSON. */
export const INSTALL_VALUES_ANNOTATION = 'stowage.dev/install-values';

/** On a Volume, a Leftover or a Node, with any value but "false": nothing is written there. */
export const PAUSED_ANNOTATION = 'stowage.dev/paused';

/**
 * On a Volume: its node is lost, so its deletion does not wait for it. The value is the Volume's UID, so that a copy of
 * its manifest asks for nothing.
 */
export const FORGET_NODE_ANNOTATION = 'stowage.dev/forget-node';

/** On a PersistentVolume: the nodes that its device is attached to, or may be, as a JSON list; also the empty one. */
export const ATTACHED_NODES_ANNOTATION = 'stowage.dev/attached-nodes';

/** On a StorageClass: `--max-wait-for-unmount` of its volumes, as a duration such as `10m`, or `never`. */
export const MAX_WAIT_FOR_UNMOUNT_ANNOTATION = 'stowage.dev/max-wait-for-unmount';

/** Of a pod: whether each of its volumes that Stowage attaches is there. It can be a readiness gate. */
export const VOLUMES_ATTACHED_CONDITION = 'stowage.dev/VolumesAttached';

/** Its reasons. */
export const VOLUMES_ATTACHED_REASON = {
  attached: 'VolumesAttached',
  notAttached: 'VolumesNotAttached',
} as const;

/** Kubernetes' own, on a pod that a kubelet runs from a file of its node: the API server only mirrors it. */
export const MIRROR_POD_ANNOTATION = 'kubernetes.io/config.mirror';

/** Kubernetes' own: whoever puts it on a Node says that the machine is off. */
export const OUT_OF_SERVICE_TAINT = 'node.kubernetes.io/out-of-service';

/**
 * MetalK8s's, on a Volume: lvcreate may destroy what it finds. It does not say what, so that here it is no consent
 * without spec.overwrite.
 */
export const FORCE_LVCREATE_ANNOTATION = 'metalk8s.scality.com/force-lvcreate';

/** Of classes whose volumes are made before they are claimed: nothing makes one for a claim. */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** The provisioner and snapshotter; a DNS subdomain, so that it can name a CSIDriver object, too. */
export const DRIVER = 'volume.stowage.dev';

/** Kubernetes' own, on a PersistentVolume: without it kube-controller-manager marks a `local` one to delete as Failed. */
export const PROVISIONED_BY_ANNOTATION = 'pv.kubernetes.io/provisioned-by';

/** Kubernetes' own, on a claim that waits for its first pod: the node that the scheduler chose. */
export const SELECTED_NODE_ANNOTATION = 'volume.kubernetes.io/selected-node';

/** Label of namespaces whose pods may reach the daemon's port: `allowed`. */
export const METRICS_LABEL = 'stowage.dev/metrics';

/** Kubernetes' own, on a claim: who is to make its volume, and what it was called before. */
export const STORAGE_PROVISIONER_ANNOTATIONS = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
] as const;

/** Of the snapshot API. */
export const SNAPSHOT_GROUP = 'snapshot.storage.k8s.io';
export const DEFAULT_SNAPSHOT_CLASS_ANNOTATION = 'snapshot.storage.kubernetes.io/is-default-class';
export const SNAPSHOT_FINALIZERS = {
  /** On a VolumeSnapshot that a claim is being made from. */
  asSource: 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection',
  /** On a VolumeSnapshot that has a content. */
  bound: 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection',
  /** On a VolumeSnapshotContent. */
  content: 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection',
  /** On a claim that a snapshot is being taken of, or another claim is being made from. */
  claimAsSource: 'snapshot.storage.kubernetes.io/pvc-as-source-protection',
} as const;

/**
 * On a VolumeSnapshotContent: the job that was or is to be submitted to a node for it, as JSON (`JobNote`), written before
 * that. So whoever comes next knows where something of the snapshot may be.
 */
export const SNAPSHOT_JOB_ANNOTATION = 'stowage.dev/snapshot-job';

/**
 * A label, written with that annotation: how many jobs were named so far. The standard snapshot-controller writes all
 * annotations anew, as its cache has them, when a snapshot is deleted, and takes with that away what came meanwhile.
 */
export const SNAPSHOT_ATTEMPT_LABEL = 'stowage.dev/snapshot-attempt';

/** Of the VolumePopulator that stands for VolumeSnapshotLinks, as KEP-3294 calls it. */
export const SNAPSHOT_LINK_POPULATOR = 'volumesnapshotlink';

/** Of the API of volume populators. */
export const POPULATOR_GROUP = 'populator.storage.k8s.io';

/** On a claim that is being filled by a populator: it stays until nothing of that is left. */
export const POPULATE_FINALIZER = 'stowage.dev/populate-target-protection';

/** On a PersistentVolume that a populator has filled: the data source, as `NAMESPACE/NAME`. */
export const POPULATED_FROM_ANNOTATION = 'stowage.dev/populated-from';

/** On a prime claim and its pod: the claim that they are for, as `NAMESPACE/NAME`; with its UID as a label. */
export const POPULATES_ANNOTATION = 'stowage.dev/populates';
export const POPULATES_LABEL = 'stowage.dev/populates-uid';

/** On a prime claim: what became of its pods, as JSON (`Attempts`); the UID of the pod that filled it. */
export const POPULATE_ATTEMPTS_ANNOTATION = 'stowage.dev/populate-attempts';
export const POPULATED_BY_ANNOTATION = 'stowage.dev/populated-by';

/**
 * On a Secret: the hosts that its keys may be sent to as the header Authorization, with commas between them; with the port where that
 * is not the scheme's own. Without it a Secret goes nowhere: who may name a Secret need not be allowed to read it.
 */
export const AUTHORIZATION_HOSTS_ANNOTATION = 'stowage.dev/authorization-hosts';

/** On a Backup: it stays until nothing of it is left on its node but the archive. */
export const BACKUP_FINALIZER = 'stowage.dev/backup-protection';

/** On a pod that fills a volume: the PopulatorDefinition and the data source that it was made from, by UID and version. */
export const POPULATE_ORIGIN_ANNOTATION = 'stowage.dev/populate-origin';

/** 'true' on ClusterRoles whose rules the daemon gets: they let it read what volumes are filled from. */
export const AGGREGATE_LABEL = 'stowage.dev/aggregate-to-populator';

/** 'true' on the class that claims get when they name none. */
export const DEFAULT_CLASS_ANNOTATION = 'storageclass.kubernetes.io/is-default-class';

/** The one before it, which Kubernetes still takes for the same. */
export const BETA_DEFAULT_CLASS_ANNOTATION = 'storageclass.beta.kubernetes.io/is-default-class';

/** The component that events are reported by, and the field manager of writes. */
export const COMPONENT = 'stowage';

/** Reasons of events, as MetalK8s emits them. */
export const EVENT = {
  stateTransition: 'StateTransition',
  pvCreation: 'PvCreation',
  pvDeletion: 'PvDeletion',
  volumeFinalization: 'VolumeFinalization',
  // On pods, as kube-controller-manager's.
  failedAttachVolume: 'FailedAttachVolume',
  successfulAttachVolume: 'SuccessfulAttachVolume',
  /** On a Volume: let go of on a node that is gone, without having looked there. */
  forcedDetach: 'ForcedDetach',
} as const;

/** Reasons of events on claims, as external-provisioner and external-resizer emit them. */
export const CLAIM_EVENT = {
  provisioning: 'Provisioning',
  failed: 'ProvisioningFailed',
  resizeFailed: 'VolumeResizeFailed',
} as const;

/** Reasons of events on StorageClasses: whether it is known how much room a node has for their volumes. */
export const ROOM_EVENT = { unknown: 'RoomUnknown', known: 'RoomKnown' } as const;

/** Reasons of events on VolumeSnapshots and their contents, as the standard snapshot-controller and its sidecar emit them. */
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

/** Reasons of events on claims that populators fill: the first as volume-data-source-validator, the others as lib-volume-populator emit them. */
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

/** The type of the condition of a Volume that says why it was not provisioned, as the owner of its claim is told. */
export const PROVISIONED = 'Provisioned';

/** Reasons of the condition Ready; the first six as MetalK8s writes them. */
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

/** Versions of ReferenceGrant that are the same but for their name, the newest first. */
export const REFERENCE_GRANT_VERSIONS = ['v1', 'v1beta1'] as const;
