import type { ReasonEntry } from './types.ts';

/** Claims that volumes are provisioned for, and their data sources. */
export const CLAIMS = {
  StorageClassUnusable: {
    message: 'storage class {class} is invalid',
    cause: 'StorageClassInvalid',
  },
  ReadWriteManyRefused: {
    message:
      'access mode ReadWriteMany is not supported: writes from two nodes would corrupt the device',
    action: 'Request ReadWriteOnce',
  },
  SelectorRefused: {
    message:
      'the claim has a selector, which matches existing volumes only: none is provisioned for it',
    action: 'Remove the selector, or use a static storage class',
  },
  VolumeAttributesClassRefused: {
    message:
      'the claim names VolumeAttributesClass {class}, and only volumes of CSI drivers have one',
    action: 'Create the claim again without volumeAttributesClassName',
    cause: 'AttributesClassRefused',
  },
  VolumeOfAnotherClaim: {
    message: 'Volume {volume} exists, and was not created for this claim',
    action: 'Delete it: stowage delete volume {volume}',
  },
  NodeNotAnswering: {
    message: 'Volume {volume} waits for a valid answer from node {node}',
    action: 'Find the cause: stowage why volume {volume}',
  },
  ConsentMissing: {
    message:
      'free extents of {place} on node {node} contain data of removed volumes, and the storage class does not consent to overwriting it (parameter overwriteFreeExtents)',
    cause: 'FreeExtentsCarryData',
  },
  NoNode: {
    message: 'no node is eligible for the volume',
  },
  SelectedNodeMissing: {
    message: 'node {node} does not exist',
  },
  NodePaused: {
    message: 'node {node} is paused',
  },
  NodeNotReady: {
    message: 'node {node} is not Ready',
    cause: 'NodeNotReady',
  },
  TopologyNotAllowed: {
    message: 'allowedTopologies of the storage class exclude node {node}',
  },
  TaintNotTolerated: {
    message: 'no pod of the claim tolerates taint {taint} of node {node}',
  },
  PodsElsewhere: {
    message: 'the pods of the claim run on nodes other than {node}',
  },
  NoRoom: {
    message:
      'node {node} has {free} available in {place}, and the claim needs {wanted}[, including the download of its {format}]',
    cause: 'NoRoom',
    varies: ['free'],
  },
  NoRoomToGrow: {
    message: 'node {node} has {free} available in {place}, and the expansion needs {wanted} more',
    cause: 'NotGrown',
    varies: ['free'],
  },
  NoRoomForCopy: {
    message: 'node {node} has {free} available in {place}, and the snapshot needs {wanted}',
    varies: ['free'],
  },
  NodeDirectoryUnusable: {
    message: 'node {node} has no available capacity',
    cause: 'DirectoryNotMounted',
  },
  RoomUnknown: {
    message: 'available capacity of node {node} is unknown',
    cause: 'RoomUnknown',
  },
  RoomKnown: {
    message: 'node {node}: available capacity in {place} is known again',
  },
  GrowthShowsOldData: {
    message:
      'a volume of mode Block cannot be expanded in volume group {group}: the added extents would expose data of earlier logical volumes',
    action: 'Use a class with a thinPool for volumes to expand, or copy the data to a larger claim',
  },
  ExternalPopulator: {
    message: 'Assuming an external populator will provision the volume ({kind} {source})',
  },
  GateOff: {
    message:
      'dataSourceRef names {kind} {source} in another namespace than {namespace}, which this daemon does not allow',
    action:
      'Enable feature gate CrossNamespaceVolumeDataSource of stowage watch, or use a VolumeSnapshotLink (stowage restore snapshot creates one).',
    cause: 'GateOff',
  },
  SourceDropped: {
    message:
      'the claim was applied with data source {kind} {source}, which the API server dropped: its volume would be empty',
    action:
      'Enable feature gate CrossNamespaceVolumeDataSource of kube-apiserver, or use a VolumeSnapshotLink (stowage restore snapshot creates one), then create the claim again. For an empty volume, remove annotation kubectl.kubernetes.io/last-applied-configuration from the claim.',
    cause: 'SourceDropped',
  },
  LinkElsewhere: {
    message:
      'VolumeSnapshotLink {link} can be used in namespace {namespace} only, and the claim is in {own}',
    cause: 'SourceRefused',
  },
  LinksNotRegistered: {
    message:
      'VolumeSnapshotLink {link} is ignored: the cluster has no VolumePopulator for VolumeSnapshotLinks',
    action:
      'Ask an administrator to allow VolumeSnapshotLinks: stowage install --components populator-crds',
    cause: 'KindNotRegistered',
  },
  SourceNameInvalid: {
    message: "accessing {source} of {kind} dataSource from {claim} isn't allowed",
    action: 'Correct the name: no {kind} can have this one.',
    cause: 'GrantMissing',
  },
  SnapshotGrantMissing: {
    message: "accessing {source} of VolumeSnapshot dataSource from {claim} isn't allowed",
    action:
      'Ask an owner of namespace {namespace} to allow it: stowage grant snapshot {source} --to {own} --for {use}',
    cause: 'GrantMissing',
  },
  GrantMissing: {
    message: "accessing {source} of {kind} dataSource from {claim} isn't allowed",
    action:
      'Create a ReferenceGrant in namespace {namespace}, from {from} in {own} to {kind}[ {name}.][ of group {group}]',
    cause: 'GrantMissing',
  },
  SourceMissing: {
    message: '{kind} {source} does not exist',
    cause: 'SourceMissing',
  },
  SourceBeingDeleted: {
    message: '{kind} {source} is being deleted',
    cause: 'SourceNotReady',
  },
  SourceItself: {
    message: 'the claim names itself as its data source',
    cause: 'SnapshotNotReady',
  },
  SourceUnbound: {
    message: 'PersistentVolumeClaim {source} is {phase}, and must be Bound',
    cause: 'SnapshotNotReady',
  },
  SourceVolumeMissing: {
    message:
      'PersistentVolumeClaim {source} is bound to PersistentVolume {volume}, which does not exist',
    cause: 'SnapshotNotReady',
  },
  SourceVolumeOfAnother: {
    message:
      'PersistentVolume {volume} of PersistentVolumeClaim {source} is bound to another claim',
    cause: 'SnapshotNotReady',
  },
  SourceForeign: {
    message:
      'the volume of PersistentVolumeClaim {source} is not managed by Stowage, and cannot be cloned',
    cause: 'SourceRefused',
  },
  SourceVolumeNotMade: {
    message: 'Volume {volume} of the source claim is not provisioned',
  },
  SourceOnSharedDirectory: {
    message:
      'Volume {volume} of the source claim is in a directory that several nodes share, and cannot be cloned',
    action: 'Copy its data in a pod',
  },
  SmallerThanSource: {
    message: 'the claim requests {asked}, and PersistentVolumeClaim {source} has {size}',
    cause: 'ClaimTooSmall',
  },
  SnapshotUnbound: {
    message: 'VolumeSnapshot {source} is not bound to a VolumeSnapshotContent',
    cause: 'SnapshotNotReady',
  },
  SourceContentMissing: {
    message:
      'VolumeSnapshot {source} is bound to VolumeSnapshotContent {content}, which does not exist',
    cause: 'SnapshotNotReady',
  },
  SourceContentOfAnother: {
    message:
      'VolumeSnapshotContent {content} of VolumeSnapshot {source} is bound to another snapshot',
    cause: 'SnapshotNotReady',
  },
  SnapshotForeign: {
    message:
      'VolumeSnapshot {source} was taken by driver {driver}, and storage class {class} uses volume.stowage.dev',
    cause: 'SourceRefused',
  },
  SnapshotNotReady: {
    message: 'VolumeSnapshot {source} is not ready',
    cause: 'SnapshotNotReady',
  },
  SnapshotHandleMissing: {
    message:
      'VolumeSnapshotContent {content} of VolumeSnapshot {source} has no snapshot handle yet',
    cause: 'SnapshotNotReady',
  },
  SourceHandleMissing: {
    message: 'VolumeSnapshotContent {content} has no snapshotHandle yet',
  },
  SourceHandleInvalid: {
    message: 'snapshotHandle of VolumeSnapshotContent {content} is invalid',
  },
  SmallerThanSnapshot: {
    message: 'the claim requests {asked}, and VolumeSnapshot {source} needs {size}',
    cause: 'ClaimTooSmall',
  },
  ModeDiffers: {
    message: 'the claim requests volume mode {asked}, and {kind} {source} has mode {mode}',
    cause: 'SourceRefused',
  },
  SourceElsewhere: {
    message: 'the data source of the claim is on node {nodes}, not on {node}',
    action: 'Schedule its pod there with nodeSelector kubernetes.io/hostname',
  },
} as const satisfies Record<string, ReasonEntry>;
