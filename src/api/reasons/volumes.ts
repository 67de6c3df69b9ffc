import type { ReasonEntry } from './types.ts';

/** Volumes: their specs, classes and PersistentVolumes, and storage that is adopted. */
export const VOLUMES = {
  SpecInvalid: {
    message: '{problems}',
    cause: 'InvalidSpec',
  },
  StatusInvalid: {
    message: '{problem}. Nothing is done on any node by it; correct the status',
  },
  StorageClassMissing: {
    message: 'the storage class {class} does not exist',
    action: 'Create it. {retry}',
    cause: 'StorageClassMissing',
  },
  StorageClassInvalid: {
    message: '{problem}',
    action: 'Correct the storage class (delete it and create it again). {retry}',
    cause: 'StorageClassInvalid',
  },
  VolumeSourceUnusable: {
    message: '{problem}',
    action: 'It is made once that is there',
    cause: 'SourceNotReady',
  },
  SourceOfOtherType: {
    message: 'it is of another type than what it starts from, of which it cannot be made',
    action: 'Use a storage class of the type that this is of',
  },
  FileSystemMissing: {
    message: '{path} should hold a file system, and none was found',
    action: 'The PersistentVolume is made once there is one',
  },
  PersistentVolumeExists: {
    message: 'a PersistentVolume {name} exists that does not belong to this Volume',
    action: 'Delete it, or name the Volume otherwise',
    cause: 'NameTaken',
  },
  PersistentVolumeInvalid: {
    message: 'the API server refused the PersistentVolume: {why}',
    action: 'Look at spec.template',
  },
  PersistentVolumeForbidden: {
    message: 'the API server does not allow the PersistentVolume: {why}',
    action:
      'It is tried again. What the daemon may do is given by: stowage install --components rbac',
  },
  PersistentVolumeFailed: {
    message: 'the PersistentVolume is Failed: {why}',
    cause: 'PersistentVolumeFailed',
  },
  PersistentVolumeInUse: {
    message: 'the PersistentVolume is still in use: {holder}',
    cause: 'PersistentVolumeHeld',
  },
  CannotGrow: {
    message: 'cannot grow to {bytes} bytes: {why}',
    cause: 'NotGrown',
  },
  AttachmentDisabled: {
    message:
      '{waiting}, and the controller attachment is switched off: start stowage watch with it',
    cause: 'AttachmentDisabled',
  },
  VolumeStillAttached: {
    message: 'is still attached on {nodes}',
  },
  EarlierJobRuns: {
    message: 'waits for the end of {job}',
    cause: 'JobRunning',
  },
  OtherJobRuns: {
    message: 'done, but another job of this Volume still runs on the node',
    cause: 'JobRunning',
  },
  LeftoverRefused: {
    message: 'what it left on its node cannot be written down: {problem}',
  },
  LeftoverInvalid: {
    message:
      '{problem}. Nothing is done on any node by it; delete this Leftover if it is not needed',
  },
  LeftoverOwned: {
    message: 'waits until the Volume {volume} is gone',
  },
  AdoptsSnapshot: {
    message:
      'the storage with the UID {uid} is a snapshot: that of the VolumeSnapshotContent {content}',
    action:
      'A snapshot is not adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
    cause: 'DeviceOfAnother',
  },
  AdoptedByAnother: {
    message: 'the Volume {volume} adopts the storage with the UID {uid}',
    action: "Storage becomes one Volume's. Delete {volume} first if it is not to be that one.",
    cause: 'DeviceOfAnother',
  },
  AdoptedVolumeAlive: {
    message: "the storage with the UID {uid} is the Volume {volume}'s on node {node}, and {why}",
    action:
      '{hint}. Or delete that Volume, if its data is retained: stowage delete volume {volume}',
    cause: 'DeviceOfAnother',
  },
  AdoptedVolumeUnfinished: {
    message: 'the Volume {volume}, whose UID {uid} is, was never made to its end',
    action:
      'If you know that there is data on its storage, delete it first: stowage delete volume {volume} --forget-node',
    cause: 'DeviceOfAnother',
  },
  AdoptedLeftover: {
    message: 'a Leftover has the storage with the UID {uid} removed on node {node}, and {why}',
    action: 'Wait until that is done, or take the Leftover away: kubectl delete leftover {uid}',
    cause: 'DeviceOfAnother',
  },
} as const satisfies Record<string, ReasonEntry>;
