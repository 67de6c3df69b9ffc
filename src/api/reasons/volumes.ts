import type { ReasonEntry } from './types.ts';

/** Volumes: their specs, classes and PersistentVolumes, and storage that is adopted. */
export const VOLUMES = {
  SpecInvalid: {
    message: '{problems}',
    cause: 'InvalidSpec',
  },
  StatusInvalid: {
    message: '{problem}. No work is done on any node until the status is corrected',
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
    message: 'waiting for the source: {problem}',
    cause: 'SourceNotReady',
  },
  SourceOfOtherType: {
    message: 'source and volume have different types',
    action: "Use a storage class of the source's type",
  },
  FileSystemMissing: {
    message:
      'no file system was found on {path}; the PersistentVolume is created once there is one',
  },
  PersistentVolumeExists: {
    message: 'PersistentVolume {name} exists and does not belong to this Volume',
    action: 'Delete it, or create the Volume under another name',
    cause: 'NameTaken',
  },
  PersistentVolumeInvalid: {
    message: 'the API server refused the PersistentVolume: {why}',
    action: 'Correct spec.template',
  },
  PersistentVolumeForbidden: {
    message: 'the API server forbids the PersistentVolume: {why}',
    action: 'Grant the daemon its permissions; it then retries: stowage install --components rbac',
  },
  HostnameLabelMissing: {
    message:
      'the PersistentVolume waits until Node {node} exists with the label kubernetes.io/hostname, by which it selects the node permanently',
    action: 'Start the kubelet of {node}, which registers the Node and sets the label',
    cause: 'HostnameLabelMissing',
  },
  HostnameLabelShared: {
    message:
      'Node {other} also has the label kubernetes.io/hostname {label} of Node {node}: the PersistentVolume would lead pods there, where the data is not, so it waits until the labels differ',
    action:
      'Correct the label of the wrong node by --hostname-override or --node-labels of its kubelet, and restart the kubelet, which undoes labels that kubectl set',
    cause: 'HostnameLabelShared',
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
    message: 'cannot expand to {bytes} bytes: {why}',
    cause: 'NotGrown',
  },
  AttachmentDisabled: {
    message:
      "{waiting}, and the controller attachment is disabled: enable it with stowage watch --controllers '*'",
    cause: 'AttachmentDisabled',
  },
  VolumeStillAttached: {
    message: 'the volume is still attached to {nodes}',
  },
  EarlierJobRuns: {
    message: 'waiting for the job {job} to end',
    cause: 'JobRunning',
  },
  OtherJobRuns: {
    message: 'the job is done, but another job of this Volume still runs on the node',
    cause: 'JobRunning',
  },
  LeftoverRefused: {
    message: 'cannot create a Leftover for its storage on the node: {problem}',
  },
  LeftoverInvalid: {
    message:
      '{problem}. No work is done on any node for this Leftover; delete it if it is not needed',
  },
  LeftoverOwned: {
    message: 'waiting for Volume {volume} to be deleted',
  },
  AdoptsSnapshot: {
    message:
      'the storage with UID {uid} is the snapshot of VolumeSnapshotContent {content}, which cannot be adopted',
    action: 'Restore the snapshot instead: create a claim whose dataSource is its VolumeSnapshot.',
    cause: 'DeviceOfAnother',
  },
  AdoptedByAnother: {
    message: 'Volume {volume} adopts the storage with UID {uid}, and only one Volume can adopt it',
    action: 'To adopt the storage with this Volume instead, delete Volume {volume} first.',
    cause: 'DeviceOfAnother',
  },
  AdoptedVolumeAlive: {
    message: 'the storage with UID {uid} belongs to Volume {volume} on node {node}, and {why}',
    action:
      '{hint}. Or delete that Volume, if its data is retained: stowage delete volume {volume}',
    cause: 'DeviceOfAnother',
  },
  AdoptedVolumeUnfinished: {
    message: 'the provisioning of Volume {volume} with UID {uid} never completed',
    action:
      'If you know that its storage holds data, delete that Volume first: stowage delete volume {volume} --forget-node',
    cause: 'DeviceOfAnother',
  },
  AdoptedLeftover: {
    message: 'a Leftover removes the storage with UID {uid} from node {node}, and {why}',
    action: 'Wait until the Leftover is gone, or delete it: kubectl delete leftover {uid}',
    cause: 'DeviceOfAnother',
  },
} as const satisfies Record<string, ReasonEntry>;
