import type { ReasonEntry } from './types.ts';

/** VolumeSnapshots and their contents. */
export const SNAPSHOTS = {
  SnapshotSourceAmbiguous: {
    message:
      'Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified',
  },
  SnapshotClaimMissing: {
    message: 'claim {claim} not found',
    cause: 'ClaimMissing',
  },
  SnapshotClaimBeingDeleted: {
    message: 'claim {claim} is being deleted',
  },
  SnapshotClaimUnbound: {
    message: 'claim {claim} is not bound to a PersistentVolume yet',
    cause: 'ClaimUnbound',
  },
  SnapshotPersistentVolumeMissing: {
    message: 'the PersistentVolume {volume} of claim {claim} not found',
    cause: 'PersistentVolumeMissing',
  },
  SnapshotPersistentVolumeOfAnother: {
    message: 'the PersistentVolume {volume} is not bound to claim {claim}',
  },
  SnapshotVolumeForeign: {
    message: "the PersistentVolume {volume} of claim {claim} is no Volume's of Stowage",
    cause: 'ForeignProvisioner',
  },
  DefaultSnapshotClassMissing: {
    message:
      'cannot find default snapshot class: none of the driver {driver} has the annotation {annotation}: "true"',
    cause: 'SnapshotClassMissing',
  },
  DefaultSnapshotClassAmbiguous: {
    message: '{count} default snapshot classes were found: {classes}',
    cause: 'SnapshotClassMissing',
  },
  SnapshotClassNotFound: {
    message: 'VolumeSnapshotClass {class} not found',
    cause: 'SnapshotClassMissing',
  },
  SnapshotClassForeign: {
    message: 'VolumeSnapshotClass {class} is of the driver {driver}, and the volume is of {own}',
    cause: 'ForeignProvisioner',
  },
  SnapshotClassParameterUnknown: {
    message:
      'VolumeSnapshotClass {class}: there is no parameter {parameter}; there is: frozenCopySeconds',
  },
  SnapshotClassFreezeInvalid: {
    message:
      'VolumeSnapshotClass {class}: frozenCopySeconds is {value}; write a whole number from 1 to {most}',
  },
  SnapshotBegun: {
    message: 'Waiting for a snapshot {snapshot} to be created by Stowage',
  },
  ContentMissing: {
    message: 'VolumeSnapshotContent {content} is missing',
    cause: 'ContentMissing',
  },
  ContentMisbound: {
    message: 'VolumeSnapshotContent {content} is bound to a different snapshot',
    cause: 'ContentMismatch',
  },
  ContentPreProvisioned: {
    message:
      'VolumeSnapshotContent is pre-provisioned while expecting a dynamically provisioned one',
    cause: 'ContentMismatch',
  },
  ContentDynamic: {
    message:
      'VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one',
    cause: 'ContentMismatch',
  },
  ContentSourceAmbiguous: {
    message: 'it must have one of volumeHandle and snapshotHandle',
  },
  ContentHandleInvalid: {
    message: 'its handle {handle} names no snapshot that Stowage takes',
  },
  ContentNoteLost: {
    message:
      'somebody took away the annotation that says where its copy is, and Volume {volume} is gone',
    action:
      'To let go of the copy: kubectl annotate volumesnapshotcontent {content} stowage.dev/forget-node={uid}',
  },
  SnapshotMissing: {
    message: 'there is no VolumeSnapshot {snapshot}',
  },
  SnapshotVolumeGone: {
    message: 'there is no Volume {volume}, or it is not the one that the snapshot is of',
    cause: 'VolumeMissing',
  },
  SnapshotVolumeBeingDeleted: {
    message: 'Volume {volume} is being deleted',
  },
  SnapshotVolumeNotMade: {
    message: 'Volume {volume} is not made yet',
  },
  SnapshotVolumePaused: {
    message: 'Volume {volume} is paused',
    cause: 'Paused',
  },
  SnapshotNodePaused: {
    message: 'Node {node} is paused',
    cause: 'Paused',
  },
  ContentPaused: {
    message: 'the VolumeSnapshotContent[ {content}] is paused',
    cause: 'Paused',
  },
  SnapshotsOfKindNone: {
    message: 'Volume {volume} is a {kind}, of which there are no snapshots',
  },
  SnapshotsOfThickNone: {
    message:
      'Volume {volume} is a logical volume outside a thin pool, of which there are no snapshots',
    action: 'Copy its data within a pod, to a volume of a class with a thinPool',
  },
  SnapshotVolumeMoved: {
    message: 'Volume {volume} is not in the volume group {group} any more',
  },
  SnapshotFileMoved: {
    message: 'the file of Volume {volume} is not in {folder} any more',
  },
  SnapshotNodeAwaited: {
    message: 'waits for a node: {said}',
    varies: ['said'],
  },
  SnapshotReady: {
    message: 'Snapshot {snapshot} is ready to use',
  },
  SnapshotCopyMissing: {
    message: 'its copy {copy} is missing on node {node}',
    action: 'Nothing is taken in its place',
  },
  SnapshotCopyStays: {
    message: 'the copy is still there',
  },
  SnapshotBeingRestored: {
    message: 'Snapshot is being used to restore Volume {volume}',
    cause: 'UsedAsSource',
  },
  ContentOfSnapshot: {
    message: 'VolumeSnapshot {snapshot} still has it: delete that',
  },
  ContentBeingRestored: {
    message: 'Volume {volume} is being made from it',
    cause: 'UsedAsSource',
  },
} as const satisfies Record<string, ReasonEntry>;
