import type { FsType } from '../api/file-systems.ts';
import type { Reason } from '../api/reasons.ts';
import type { Step } from '../nodes/job.ts';
import type { ObservedDirectory } from './directory/types.ts';
import type { Extents, LogicalVolume, VolumeGroup } from './lvm/facts.ts';
import type { Fill } from './populate/types.ts';
import type { Beside, LockOwner, ObservedShared } from './shared-fs/types.ts';

/** What is the same for every kind. */
export interface DesiredVolume {
  /** The Volume's UID: UUID of the file system, or GUID of the partition. */
  uid: string;
  /** Its persistent path, where an earlier version or MetalK8s made it: udev derives it from UUIDs. */
  earlierLink?: string;
  /** The Volume's name, which a partition gets too. */
  name: string;
  mode: 'Filesystem' | 'Block';
  /** What to make in mode Filesystem, with options that were checked; undefined where the class is not known. */
  fs: { type: FsType; options: readonly string[] } | undefined;
  /** The Volume's status records the storage as made: then it is ours even if the node forgot. */
  recorded: boolean;
  onDelete: 'Delete' | 'Retain' | 'Wipe';
  /** The UID of the Volume that had the storage before: it is there with its data, and nothing is made. */
  adopt?: string;
  /** What it is filled from while it is made, instead of being empty. */
  fill?: Fill | undefined;
  /** The kubelet's root folder on the node, whose folders of the PersistentVolume count as use. */
  kubeletRoot: string;
}

export interface DesiredSparse extends DesiredVolume {
  type: 'sparse';
  /** It is made without being attached: that is done where a pod needs it. */
  onDemand: boolean;
  /** Attached so that it cannot be written to. */
  readOnly: boolean;
  /** The file is on a file system that several nodes share: an owner file beside it says who has it attached. */
  shared: boolean;
  /** Requires that the directory is not on the root file system. */
  requireMount?: boolean;
  /** For how many bytes a shared one is made so far, as its status says: other nodes than the one that did it have no record of it. */
  recordedBytes?: bigint;
  /** For whom work is done on a shared one. */
  owner?: LockOwner | undefined;
  /** The backing file's absolute path; its last part is the UID. */
  file: string;
  /** What was asked for, in whole blocks, in bytes. The file of a Block volume is larger: it holds a GPT, too. */
  sizeBytes: bigint;
  /** What it starts from, instead of being empty. */
  source?: Source | undefined;
  /** It is being deleted with what it holds, which needs not be overwritten. */
  givenUp?: boolean;
  /** A Volume of its name is made once and never again: it is a claim's, by whose UID it is named. */
  once?: boolean;
}

/** A file that a volume is a copy of: the copy that a snapshot is, or another volume's backing file. */
export interface Source {
  what: 'snapshot' | 'volume';
  /** Its absolute path, whose last part is its UUID or GUID. */
  file: string;
  mode: 'Filesystem' | 'Block';
  /** What may be done to the file system of a volume that is mounted; without it, nothing. */
  freeze?: Freeze | undefined;
}

export interface DesiredRaw extends DesiredVolume {
  type: 'raw';
  /** Any path of the device, symbolic links included. */
  devicePath: string;
  /** The consent to destroy what is on the device: what `contentText` says of it. */
  overwrite: string | undefined;
  /** The identity of the device that was made ready, as the Volume's status records it. */
  identity: string | undefined;
}

/** The logical volume has the Volume's name, as MetalK8s gives it. */
export interface DesiredLvm extends DesiredVolume {
  type: 'lvm';
  vgName: string;
  /** The thin pool of the group that it is taken from; undefined for one that has its extents from the start. */
  thinPool: string | undefined;
  /** What was asked for, in bytes; it is made in whole extents. */
  sizeBytes: bigint;
  /** The consent to destroy what earlier owners of the extents left in them: what that is, or `free extents`. */
  overwrite: string | undefined;
  /** MetalK8s's annotation is there, which says that something may be destroyed, but not what. */
  forced: boolean;
  /** The identity of the logical volume that was made ready, as the Volume's status records it. */
  identity: string | undefined;
  /** What it starts from, instead of being empty. */
  source?: ThinSource | undefined;
  /** Shows no data of earlier logical volumes: zeros are written to all of it first, or its thin pool hands out zeros. */
  zeroed?: boolean;
}

/** A thin logical volume that a volume is a snapshot of: a snapshot, or another volume. */
export interface ThinSource {
  what: 'snapshot' | 'volume';
  vgName: string;
  /** That it was made with. It is known by its UID. */
  name: string;
  uid: string;
  mode: 'Filesystem' | 'Block';
}

/** What is wanted on the node. */
export type VolumeOperation = 'provision' | 'attach' | 'detach' | 'delete';

/** The steps that remain; none when the node is as wanted. Or why nothing may be done. */
export type Plan =
  /**
   * `grows`: the volume can be used, and is to become larger. `notes`: what its owner should know of it. `astray`: the persistent
   * path leads to another device, which the steps change; they are run once that was told. `reason`: of `astray`, or of the note that it cannot grow.
   */
  | {
      steps: readonly Step[];
      grows?: boolean;
      notes?: readonly string[];
      astray?: string;
      reason?: Reason;
    }
  /** `retryable`: it may go on by itself, once a user of the device is gone or udev is back; else a person must act. */
  | Refusal;

export interface Refusal {
  refusal: string;
  hint: string;
  reason?: Reason;
  retryable?: boolean;
}

/** Something at a path, not following a symbolic link. */
export type FileFacts =
  | { type: 'missing' }
  | { type: 'file'; sizeBytes: bigint; inode: string }
  | { type: 'other' };

/** What `blkid -p` reads: nothing, one thing, or several at once, which counts as something. */
export type Signature =
  | { found: 'none' }
  | { found: 'ambivalent' }
  /** A file system, a member of something, swap, or a partition table (`gpt`, `dos`), with its UUID. */
  | { found: 'one'; type: string; uuid?: string };

export interface LoopFacts {
  /** As under /dev: `loop3`. */
  name: string;
  number: number;
  /** `major:minor`, decimal. */
  device: string;
  /** As the kernel shows it, ` (deleted)` at its end included. */
  backingFile: string;
  backingInode: string;
  /** Detaches itself when its last user closes it: neither attached nor detached. */
  autoclear: boolean;
  readOnly: boolean;
  /** Neither an offset nor a limit: the device is the whole file. */
  wholeFile: boolean;
  sizeBytes: bigint;
}

/** A row of lsblk: what the kernel has under /sys/class/block. */
export interface BlockDevice {
  /** The kernel's name, as under /dev. */
  name: string;
  /** `major:minor`, decimal. */
  device: string;
  /** What it is a part of or made of; one row for each. */
  parent: string | undefined;
  /** `disk`, `part`, `loop`, `lvm`, `crypt`, `raid1`, … */
  type: string;
  sizeBytes: bigint;
  readOnly: boolean;
  serial: string | undefined;
  wwn: string | undefined;
  /** Device-mapper's name and UUID of it, whoever gave them. */
  mapper?: { name: string; uuid: string };
}

/** What tells whether a device is in use, of the whole node. */
export interface DeviceUsage {
  /** Every loop device of the node that has a backing file. */
  loops: readonly LoopFacts[];
  /** Mount points by the device they are of (`major:minor`). */
  mounts: ReadonlyMap<string, readonly string[]>;
  devices: readonly BlockDevice[];
  /** Paths of devices that are swapped to. */
  swaps: readonly string[];
}

/** Observed of every kind. */
export interface ObservedVolume extends DeviceUsage {
  intent: Intent | undefined;
  /** For how many bytes the volume is made; undefined while it is not, and where an older record does not say. */
  done: { sizeBytes: bigint | undefined } | undefined;
  /** Up to which byte it has been wiped; undefined where that was never begun. */
  wiped: bigint | undefined;
  /** Any file of the Volume's records is there, half-written ones included. */
  recordFiles: boolean;
  /** The device that the persistent link leads to, `major:minor`; undefined when there is none. */
  link: string | undefined;
  /** udev is there to make the link. */
  udev: boolean;
  /** Folders of the kubelet's for the PersistentVolume that are not empty. */
  kubeletFolders: readonly string[];
}

export interface ObservedSparse extends ObservedVolume {
  type: 'sparse';
  /** The device that udev leads to by what is on it, `major:minor`. */
  contentLink?: string;
  /** Records of a Volume of its name and another UID, where there may be one in all time: the files' names. */
  earlier?: readonly string[];
  /** The file's path without symbolic links: what the kernel calls a loop's backing file. */
  realPath: string;
  file: FileFacts;
  partial: FileFacts;
  /** Of the file; `none` when it is missing. */
  signature: Signature;
  /** Whether an ext4 can be grown while it is mounted. */
  growsMounted: boolean;
  space: Space;
  /** The file system that the file's directory is on. */
  directory: ObservedDirectory;
  /** Who uses a shared one. */
  shared?: ObservedShared | undefined;
  /** What it starts from; undefined where it starts empty. */
  source?: SourceFacts | undefined;
  /** The file that it adopts, by the name that it had; undefined where it adopts none. */
  earlierFile?: EarlierFile;
}

export interface EarlierFile {
  /** Without symbolic links: what the kernel calls a loop's backing file. */
  realPath: string;
  file: FileFacts;
  signature: Signature;
  /** Files beside it that tell which node has it attached; none where its directory was never shared. */
  beside: Beside;
}

/** For people who watch how full it gets: nothing is planned by it. */
export interface Space {
  /** Where the file is, or is to be; or the volume group or thin pool, as it is named under /dev. */
  directory: string;
  /** What is left there, for users other than root; undefined where it is missing. */
  freeBytes: bigint | undefined;
  /** What the volume takes of it. */
  allocatedBytes: bigint;
}

/** The output of commands that read a device's content, and that preconditions repeat. */
export interface PrintedContent {
  blkid: string;
  blkidExit: number;
  wipefs: string;
}

/** A block device, and all that can be said of its content. */
export interface DeviceFacts extends BlockDevice {
  /** For a device that is made ready: of what Stowage makes, where that is there, whatever else blkid finds on it. */
  signature: Signature;
  /** The same as consent names it, partitions included; '' for a device that carries no signature. */
  content: string;
  /** Whether it reads as zeros at all places that were read; undefined where none was. */
  isBlank: boolean | undefined;
  /** UUIDs of file systems, tables and partitions that were seen on it. */
  uuids: readonly string[];
  /** What tells it from another device that gets its name: `key=value`, spaces between. */
  identity: string;
  /**
   * The node's start and the kernel's number of the disk since then, which no other disk gets: tells, until the next
   * start, that a disk without a name of its own is still the same. undefined before Linux 5.15.
   */
  presence: string | undefined;
  /** The output of commands that preconditions repeat. `below` lists the device and the partitions that the kernel knows on it. */
  printed: { identity: string; below: string } & PrintedContent;
  /** The same of each partition, and whether it reads as zeros. */
  printedParts: readonly (PrintedContent &
    Pick<BlockDevice, 'name' | 'sizeBytes'> &
    Pick<DeviceFacts, 'isBlank'>)[];
  /**
   * For a partition: its place in its parent's table. `inTable` is the number of the entry that is at its place, which
   * is not the kernel's when the table was changed since the kernel read it.
   */
  partition:
    | { number: number; inTable: number | undefined; scheme: string; uuid: string }
    | undefined;
  /** For a partition: the disk that it is on. */
  disk: BlockDevice | undefined;
  /** GUIDs that stand where a GPT or its copy has the disk's, whether or not the table can be read. Of a whole disk. */
  tableUuids: readonly string[];
  /** Device-mapper's own UUID, such as `LVM-…`. */
  dmUuid: string | undefined;
  /** The same of a map that multipathd made of the disk's paths, such as `mpath-3600…`: `mpath-` and the disk's WWID. */
  mapUuid?: string | undefined;
  /** The partitions that the kernel knows on it. */
  partitions: readonly BlockDevice[];
  /** Their GUIDs, as the table has them. */
  partitionUuids: readonly string[];
  /**
   * The same bytes under other names of the kernel, as two ports of a SAS disk without multipathd have: for a disk its other
   * paths and their partitions; for a partition its counterparts and their disks.
   */
  otherPaths: readonly BlockDevice[];
}

export interface ObservedRaw extends ObservedDevice {
  type: 'raw';
}

interface ObservedDevice extends ObservedVolume {
  /** What the path leads to: nothing, something that is no block device, or the device. */
  target:
    | { is: 'missing' }
    | { is: 'other'; what: string }
    /** `isElsewhere`: the path leads to another device or to none, and this one has the recorded identity. */
    | { is: 'device'; facts: DeviceFacts; isElsewhere?: boolean };
  /** Other Volumes, of which there are records on the node, or which whoever looked knows of. */
  others: readonly Owner[];
}

/** `target` is the logical volume's device, while it is active. */
export interface ObservedLvm extends ObservedDevice {
  type: 'lvm';
  /** Those of the name: two disks that were brought together can have two. */
  groups: readonly VolumeGroup[];
  /** The logical volumes of the group. */
  volumes: readonly LogicalVolume[];
  /** The free extents that it would be made of or grow by, and what is in them; none where it needs none. */
  free: readonly Extents[];
  /** Those that LVM would choose, where others are taken as these carry something. */
  passedOver: readonly Extents[];
  space: Space;
}

/** A Volume that a device may belong to. */
export interface Owner {
  uid: string;
  name?: string;
  device?: { identity?: string; presence?: string; dmUuid?: string };
}

/** Written and synced before the first step that destroys; `done` beside it after the last. */
export interface Intent {
  version: 1;
  uid: string;
  /** The Volume's name, where there may be one of that name in all time. */
  once?: string;
  /** The file that is made. */
  file?: string;
  /** The device that is made ready. `partuuid` is what the partition had. */
  device?: {
    path: string;
    identity: string;
    presence?: string;
    dmUuid?: string;
    partuuid?: string;
  };
  sizeBytes: string;
  /** Empty in mode Block. */
  fsType: string;
  /** What was on the device when it was looked at, and whose consent there is to destroy it. */
  signature: string;
  consent: string;
  /** All preconditions of the first write held right before it: what is on the device since, without a signature, is of that. */
  begun?: boolean;
  /** It was seen to be empty, and is being filled: whatever is on it comes of that. */
  filling?: boolean;
  /** The UID that the storage had, which is being changed to the Volume's: there is data on it from the start. */
  adopt?: string;
  /** The GUID of the table around the partition of a Block volume in a file, where MetalK8s made it: any. */
  table?: string;
}
/** What may be done to a mounted file system for a copy of it. */

export interface Freeze {
  /** For how long it may be frozen at most. A clone takes 10 s at most, whatever this says. */
  seconds: number;
  /** Also for a copy of its data, where its folder can't clone files. */
  copy: boolean;
}
/** A file that is copied. */

export interface SourceFacts {
  /** Without symbolic links. */
  realPath: string;
  file: FileFacts;
  /** Of the file; `none` when it is missing. */
  signature: Signature;
  /** For how many bytes a volume that is copied is made, by its record; undefined where none says so. */
  madeBytes?: bigint | undefined;
  /** What `stateOf` printed; undefined when it is missing. */
  state: string | undefined;
  /** The file system that the copy is made on is not of a kind that is known to clone no files. */
  mayClone: boolean;
}
