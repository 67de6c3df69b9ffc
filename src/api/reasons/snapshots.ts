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
    message: 'PersistentVolume {volume} of claim {claim} not found',
    cause: 'PersistentVolumeMissing',
  },
  SnapshotPersistentVolumeOfAnother: {
    message: 'PersistentVolume {volume} is not bound to claim {claim}',
  },
  SnapshotVolumeForeign: {
    message: 'PersistentVolume {volume} of claim {claim} is not managed by Stowage',
    cause: 'ForeignProvisioner',
  },
  DefaultSnapshotClassMissing: {
    message:
      'cannot find default snapshot class: no class of driver {driver} has annotation {annotation}: "true"',
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
    message: 'VolumeSnapshotClass {class} has driver {driver}, and the volume has driver {own}',
    cause: 'ForeignProvisioner',
  },
  SnapshotClassParameterUnknown: {
    message:
      'VolumeSnapshotClass {class}: unknown parameter {parameter} (known: frozenCopySeconds)',
  },
  SnapshotClassFreezeInvalid: {
    message:
      'VolumeSnapshotClass {class}: frozenCopySeconds is {value}, but must be an integer from 1 to {most}',
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
    message: 'spec.source must have exactly one of volumeHandle and snapshotHandle',
  },
  ContentHandleInvalid: {
    message: 'snapshot handle {handle} is invalid',
  },
  ContentNoteLost: {
    message: 'the annotation that locates the copy was removed, and Volume {volume} is gone',
    action:
      'If nobody needs the copy, leave it on its node: kubectl annotate volumesnapshotcontent {content} stowage.dev/forget-node={uid}',
  },
  SnapshotMissing: {
    message: 'VolumeSnapshot {snapshot} does not exist',
  },
  SnapshotVolumeGone: {
    message: 'Volume {volume} does not exist, or is not the source of the snapshot',
    cause: 'VolumeMissing',
  },
  SnapshotVolumeBeingDeleted: {
    message: 'Volume {volume} is being deleted',
  },
  SnapshotVolumeNotMade: {
    message: 'Volume {volume} is not provisioned yet',
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
    message: 'snapshots of Volume {volume} are not supported: it is a {kind}',
  },
  SnapshotsOfThickNone: {
    message:
      'snapshots of Volume {volume} are not supported: it is a logical volume outside a thin pool',
    action: 'Copy its data in a pod to a volume of a class with a thinPool',
  },
  SnapshotVolumeMoved: {
    message: 'Volume {volume} is no longer in volume group {group}',
  },
  SnapshotFileMoved: {
    message: 'the file of Volume {volume} is no longer in {folder}',
  },
  SnapshotNodeAwaited: {
    message: 'waiting for a node: {said}',
    varies: ['said'],
  },
  SnapshotReady: {
    message: 'Snapshot {snapshot} is ready to use',
  },
  SnapshotCopyMissing: {
    message: 'copy {copy} is missing on node {node}, and is not taken again',
    action: 'Bring the copy back, or delete the VolumeSnapshot',
  },
  SnapshotCopyStays: {
    message: 'the copy still exists',
  },
  SnapshotBeingRestored: {
    message: 'Snapshot is being used to restore Volume {volume}',
    cause: 'UsedAsSource',
  },
  ContentOfSnapshot: {
    message: 'VolumeSnapshot {snapshot} still uses the content: delete the VolumeSnapshot',
  },
  ContentBeingRestored: {
    message: 'Volume {volume} is being provisioned from the content',
    cause: 'UsedAsSource',
  },
} as const satisfies Record<string, ReasonEntry>;
