import type { ReasonEntry } from './types.ts';

/** Claims that volumes are provisioned for, and their data sources. */
export const CLAIMS = {
  StorageClassUnusable: {
    message: 'storage class {class} says what no volume can be made by',
    cause: 'StorageClassInvalid',
  },
  ReadWriteManyRefused: {
    message:
      'access mode ReadWriteMany: a volume is a device of one node, which two at once would destroy',
    action: 'Ask for ReadWriteOnce',
  },
  SelectorRefused: {
    message:
      'the claim has a selector, which chooses among volumes that are there: none is made for it',
    action: 'Leave it out, or name a static storage class',
  },
  VolumeOfAnotherClaim: {
    message: 'a Volume {volume} is there that was not made for this claim',
    action: 'Delete it: stowage delete volume {volume}',
  },
  NodeNotAnswering: {
    message: 'Volume {volume} waits for node {node}, which does not answer as it should',
    action: 'See: stowage why volume {volume}',
  },
  ConsentMissing: {
    message:
      'free extents of {place} on node {node} carry what removed volumes left, and the storage class does not consent to destroy that (parameter overwriteFreeExtents)',
    cause: 'FreeExtentsCarryData',
  },
  NoNode: {
    message: 'there is no node that it could be on',
  },
  SelectedNodeMissing: {
    message: 'there is no node {node}',
  },
  NodePaused: {
    message: 'node {node} is paused',
  },
  NodeNotReady: {
    message: 'node {node} is not Ready',
    cause: 'NodeNotReady',
  },
  TopologyNotAllowed: {
    message: 'the allowedTopologies of the storage class leave node {node} out',
  },
  TaintNotTolerated: {
    message: 'no pod of the claim tolerates the taint {taint} of node {node}',
  },
  PodsElsewhere: {
    message: 'the pods of the claim run on other nodes than {node}',
  },
  NoRoom: {
    message:
      'node {node} has room for {free} bytes in {place}, and {wanted} are asked for[, with the download of its {format}]',
    cause: 'NoRoom',
    varies: ['free'],
  },
  NoRoomToGrow: {
    message: 'node {node} has room for {free} bytes in {place}, and {wanted} more are asked for',
    varies: ['free'],
  },
  NoRoomForCopy: {
    message: 'node {node} has room for {free} bytes in {place}, and {wanted} are needed',
    varies: ['free'],
  },
  NodeDirectoryUnusable: {
    message: 'node {node} has no room now',
    cause: 'DirectoryNotMounted',
  },
  RoomUnknown: {
    message: 'how much room there is on node {node} is not known',
    cause: 'RoomUnknown',
  },
  RoomKnown: {
    message: 'node {node}: how much room there is in {place} is known again',
  },
  GrowthShowsOldData: {
    message:
      'a volume of mode Block does not grow in volume group {group}: its new part would show what earlier logical volumes left there',
    action: 'Use a class with a thinPool for volumes that grow, or copy the data to a larger claim',
  },
  ExternalPopulator: {
    message: 'Assuming an external populator will provision the volume ({kind} {source})',
  },
  GateOff: {
    message:
      'dataSourceRef names {kind} {source}, in another namespace than {namespace}, which this daemon does not follow',
    action:
      'Switch the gate CrossNamespaceVolumeDataSource of stowage watch on, or use a VolumeSnapshotLink.',
    cause: 'GateOff',
  },
  SourceDropped: {
    message:
      'the claim was applied with {kind} {source} as its source, and the API server dropped that: it would get an empty volume',
    action:
      'Switch the feature gate CrossNamespaceVolumeDataSource of kube-apiserver on, or use a VolumeSnapshotLink, and make the claim anew. Where it is to be empty, take the annotation kubectl.kubernetes.io/last-applied-configuration off it.',
    cause: 'SourceDropped',
  },
  LinkElsewhere: {
    message:
      'VolumeSnapshotLink {link} can be used in namespace {namespace} only, and the claim is in {own}',
    cause: 'SourceRefused',
  },
  LinksNotRegistered: {
    message:
      'VolumeSnapshotLink {link} is not followed: the cluster has no VolumePopulator for VolumeSnapshotLinks',
    action: 'An administrator allows them: stowage install --components populator-crds',
    cause: 'KindNotRegistered',
  },
  SourceNameInvalid: {
    message: "accessing {source} of {kind} dataSource from {claim} isn't allowed",
    action: 'No {kind} can have that name.',
    cause: 'GrantMissing',
  },
  SnapshotGrantMissing: {
    message: "accessing {source} of VolumeSnapshot dataSource from {claim} isn't allowed",
    action:
      'Who may write in namespace {namespace} allows it: stowage grant snapshot {source} --to {own} --for {use}',
    cause: 'GrantMissing',
  },
  GrantMissing: {
    message: "accessing {source} of {kind} dataSource from {claim} isn't allowed",
    action:
      'A ReferenceGrant in namespace {namespace} allows it, from {from} in {own} to {kind}[ {name}.][ of group {group}]',
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
    message: 'the claim names itself as its source',
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
      "the volume of PersistentVolumeClaim {source} is none of Stowage's, and only those can be cloned",
    cause: 'SourceRefused',
  },
  SourceVolumeNotMade: {
    message: 'Volume {volume}, of the claim to start from, is not made',
  },
  SourceOnSharedDirectory: {
    message:
      'Volume {volume}, of the claim to start from, is on a directory that several nodes share, and no copies of such volumes are made',
    action: 'Copy its data within a pod',
  },
  SmallerThanSource: {
    message: 'the claim asks for {asked}, and PersistentVolumeClaim {source} has {size}',
    cause: 'ClaimTooSmall',
  },
  SnapshotUnbound: {
    message: 'VolumeSnapshot {source} is not bound to a content',
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
      'VolumeSnapshot {source} was taken by {driver}, and storage class {class} is of volume.stowage.dev',
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
    message: 'the snapshotHandle of VolumeSnapshotContent {content} names no snapshot of Stowage',
  },
  SmallerThanSnapshot: {
    message: 'the claim asks for {asked}, and VolumeSnapshot {source} needs {size}',
    cause: 'ClaimTooSmall',
  },
  ModeDiffers: {
    message: 'the claim asks for volume mode {asked}, and {kind} {source} is of mode {mode}',
    cause: 'SourceRefused',
  },
  SourceElsewhere: {
    message: 'what the claim starts from is on node {nodes}, not on {node}',
    action: 'Have its pod run there, by a nodeSelector kubernetes.io/hostname',
  },
} as const satisfies Record<string, ReasonEntry>;
