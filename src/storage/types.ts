import type { FsType } from '../api/file-systems.ts';
import type { Reason } from '../api/reasons.ts';
import type { Step } from '../nodes/job.ts';
import type { ObservedDirectory } from './directory/types.ts';
import type { Extents, LogicalVolume, VolumeGroup } from './lvm/facts.ts';
import type { Fill } from './populate/types.ts';
import type { Beside, LockOwner, ObservedShared } from './shared-fs/types.ts';

/** Desired state that all kinds share. */
export interface DesiredVolume {
  /** UID of the Volume, which is also the UUID of its file system or the GUID of its partition. */
  uid: string;
  /** Persistent path from an earlier version or MetalK8s, which udev derives from UUIDs. */
  earlierLink?: string;
  /** Name of the Volume, which its partition gets too. */
  name: string;
  mode: 'Filesystem' | 'Block';
  /**
   * File system to make in mode Filesystem, with checked options; undefined if the class is
   * unknown.
   */
  fs: { type: FsType; options: readonly string[] } | undefined;
  /**
   * True if the Volume's status records the storage as provisioned: it is the Volume's even if the
   * node lost its records.
   */
  recorded: boolean;
  onDelete: 'Delete' | 'Retain' | 'Wipe';
  /**
   * UID of the Volume that had the storage before: the storage exists with its data, and nothing is
   * made.
   */
  adopt?: string;
  /**
   * Source that the volume is populated from while it is provisioned; otherwise it starts empty.
   */
  fill?: Fill | undefined;
  /**
   * The kubelet's root directory on the node. Its directories of the PersistentVolume count as use.
   */
  kubeletRoot: string;
  /** True if no object of the cluster shows that storage was ever provisioned for the Volume. */
  neverMade?: boolean;
}

export interface DesiredSparse extends DesiredVolume {
  type: 'sparse';
  /** True if provisioning does not attach the volume. It is attached where a pod needs it. */
  onDemand: boolean;
  /** True if the volume is attached read-only. */
  readOnly: boolean;
  /**
   * True if several nodes share the file system of the file. An owner file beside it names the node
   * that has it attached.
   */
  shared: boolean;
  /** True if the directory must not be on the root file system. */
  requireMount?: boolean;
  /**
   * Size (bytes) that a shared volume is provisioned for, by its status: only the node that
   * provisioned it has a record.
   */
  recordedBytes?: bigint;
  /** Lock owner for work on a shared volume. */
  owner?: LockOwner | undefined;
  /** Absolute path of the backing file; its last part is the UID. */
  file: string;
  /** Requested size (bytes) in whole blocks. The file of a Block volume is larger, for its GPT. */
  sizeBytes: bigint;
  /** Source that the volume is a copy of; otherwise it starts empty. */
  source?: Source | undefined;
  /** True if the volume is deleted with its data, which needs no overwriting. */
  discarded?: boolean;
  /**
   * True if a Volume of this name is provisioned only once: it is a claim's, whose UID is in its
   * name.
   */
  once?: boolean;
}

/** File that a volume is a copy of: the copy in a snapshot, or another volume's backing file. */
export interface Source {
  what: 'snapshot' | 'volume';
  /** Absolute path of the file, whose last part is its UUID or GUID. */
  file: string;
  mode: 'Filesystem' | 'Block';
  /** Permitted freeze of a mounted volume's file system; undefined permits none. */
  freeze?: Freeze | undefined;
}

export interface DesiredRaw extends DesiredVolume {
  type: 'raw';
  /** Any path of the device, symbolic links included. */
  devicePath: string;
  /** Consent to destroy the content of the device, as `contentText` describes it. */
  overwrite: string | undefined;
  /** Identity of the provisioned device, as the Volume's status records it. */
  identity: string | undefined;
}

/** Desired logical volume. It has the Volume's name, as MetalK8s names it. */
export interface DesiredLvm extends DesiredVolume {
  type: 'lvm';
  vgName: string;
  /**
   * Thin pool of the group that the volume is in; undefined for a volume with extents of its own.
   */
  thinPool: string | undefined;
  /** Requested size in bytes; the volume is made in whole extents. */
  sizeBytes: bigint;
  /**
   * Consent to destroy what earlier owners left in the extents: that content, or `free extents`.
   */
  overwrite: string | undefined;
  /** True if MetalK8s's annotation permits destruction without naming the content. */
  forced: boolean;
  /** Identity of the provisioned logical volume, as the Volume's status records it. */
  identity: string | undefined;
  /** Source that the volume is a snapshot of; otherwise it starts empty. */
  source?: ThinSource | undefined;
  /**
   * True if the volume exposes no data of earlier logical volumes: zeros are written to all of it
   * first, or its thin pool returns zeros.
   */
  zeroed?: boolean;
}

/** Thin logical volume that a volume is a snapshot of: a snapshot, or another volume. */
export interface ThinSource {
  what: 'snapshot' | 'volume';
  vgName: string;
  /** Name at its creation. The UID identifies it. */
  name: string;
  uid: string;
  mode: 'Filesystem' | 'Block';
}

export type VolumeOperation = 'provision' | 'attach' | 'detach' | 'delete';

/** Remaining steps, none if the node is in the desired state; or why nothing may be done. */
export type Plan =
  /**
   * `grows`: the volume is usable, and expands. `notes`: information for its owner. `astray`: the
   * persistent path leads to another device, which the steps change; they run once that is
   * reported. `reason`: of `astray`, or of the note that the volume cannot grow.
   */
  | {
      steps: readonly Step[];
      grows?: boolean;
      notes?: readonly string[];
      astray?: string;
      reason?: Reason;
    }
  /**
   * `retryable`: no person has to act; the operation may proceed once the device is unused or udev
   * is back.
   */
  | Refusal;

export interface Refusal {
  refusal: string;
  hint: string;
  reason?: Reason;
  retryable?: boolean;
}

/** Object at a path, without following a symbolic link. */
export type FileFacts =
  | { type: 'missing' }
  | { type: 'file'; sizeBytes: bigint; inode: string }
  | { type: 'other' };

/** Result of `blkid -p`: nothing, one signature, or several at once, which count as content. */
export type Signature =
  | { found: 'none' }
  | { found: 'ambivalent' }
  /**
   * A file system, a member of RAID or LVM, swap, or a partition table (`gpt`, `dos`), with its
   * UUID.
   */
  | { found: 'one'; type: string; uuid?: string };

export interface LoopFacts {
  /** Name under /dev: `loop3`. */
  name: string;
  number: number;
  /** `major:minor`, decimal. */
  device: string;
  /** Path as the kernel shows it, with ` (deleted)` at its end if the file was removed. */
  backingFile: string;
  backingInode: string;
  /**
   * True if the device detaches when its last user closes it: it is neither attached nor detached.
   */
  autoclear: boolean;
  readOnly: boolean;
  /** True if there is neither an offset nor a limit: the device is the whole file. */
  wholeFile: boolean;
  sizeBytes: bigint;
}

/** Block device, as a row of lsblk: what the kernel has under /sys/class/block. */
export interface BlockDevice {
  /** Kernel name, as under /dev. */
  name: string;
  /** `major:minor`, decimal. */
  device: string;
  /** Device that it is a part of or made of; one row for each. */
  parent: string | undefined;
  /** `disk`, `part`, `loop`, `lvm`, `crypt`, `raid1`, … */
  type: string;
  sizeBytes: bigint;
  readOnly: boolean;
  serial: string | undefined;
  wwn: string | undefined;
  /** Name and UUID in device-mapper, whatever program set them. */
  mapper?: { name: string; uuid: string };
}

/** Facts about the use of devices, on the whole node. */
export interface DeviceUsage {
  /** Every loop device of the node that has a backing file. */
  loops: readonly LoopFacts[];
  /** Mount points by the number of their device (`major:minor`). */
  mounts: ReadonlyMap<string, readonly string[]>;
  devices: readonly BlockDevice[];
  /** Paths of swap devices. */
  swaps: readonly string[];
}

/** Observed state that all kinds share. */
export interface ObservedVolume extends DeviceUsage {
  intent: Intent | undefined;
  /**
   * Size (bytes) that the volume is provisioned for; undefined before that, and if an older record
   * omits it.
   */
  done: { sizeBytes: bigint | undefined } | undefined;
  /** Offset (bytes) up to which the volume is wiped; undefined if wiping never began. */
  wiped: bigint | undefined;
  /** True if any file of the Volume's records exists, half-written ones included. */
  recordFiles: boolean;
  /** Device that the persistent path leads to (`major:minor`); undefined if there is none. */
  link: string | undefined;
  /** True if udev runs, which creates the path. */
  udev: boolean;
  /** Directories of the kubelet for the PersistentVolume that count as use. */
  kubeletFolders: readonly string[];
}

export interface ObservedSparse extends ObservedVolume {
  type: 'sparse';
  /** Device that udev's path derived from content leads to (`major:minor`). */
  contentLink?: string;
  /**
   * Names of the record files of another Volume with this name; only if the name is never reused.
   */
  earlier?: readonly string[];
  /** Path of the file without symbolic links, as the kernel shows a loop device's backing file. */
  realPath: string;
  file: FileFacts;
  partial: FileFacts;
  /** Signature of the file; `none` if it is missing. */
  signature: Signature;
  /** True if an ext4 can be grown while it is mounted. */
  growsMounted: boolean;
  space: Space;
  /** File system of the file's directory. */
  directory: ObservedDirectory;
  /** Users of a shared volume. */
  shared?: ObservedShared | undefined;
  /** Source that the volume is a copy of; undefined if it starts empty. */
  source?: SourceFacts | undefined;
  /** File to adopt, by its earlier name; undefined if the volume adopts none. */
  earlierFile?: EarlierFile;
}

export interface EarlierFile {
  /** Path without symbolic links, as the kernel shows a loop device's backing file. */
  realPath: string;
  file: FileFacts;
  signature: Signature;
  /**
   * Files beside it that name the nodes that have it attached; none if its directory was never
   * shared.
   */
  beside: Beside;
}

/** Space, for users who monitor usage: no plan depends on it. */
export interface Space {
  /** Directory of the file; or the volume group or thin pool, as named under /dev. */
  directory: string;
  /** Free space for users other than root; undefined if the place is missing. */
  freeBytes: bigint | undefined;
  /** Space that the volume occupies. */
  allocatedBytes: bigint;
}

/** Output of commands that read a device's content, and that preconditions repeat. */
export interface PrintedContent {
  blkid: string;
  blkidExit: number;
  wipefs: string;
}

/** A block device, and all that is known of its content. */
export interface DeviceFacts extends BlockDevice {
  /**
   * Signature of the device. For a provisioned device that of Stowage's content, if present,
   * whatever else blkid finds on it.
   */
  signature: Signature;
  /** All signatures as a consent names them, partitions included; '' if there are none. */
  content: string;
  /** True if all places read are zeros; undefined if none was read. */
  isBlank: boolean | undefined;
  /** UUIDs of file systems, tables and partitions that were found on it. */
  uuids: readonly string[];
  /**
   * Facts that tell it from another device that gets its name: `key=value`, separated by spaces.
   */
  identity: string;
  /**
   * Boot ID and diskseq of the disk, which no other disk gets: they identify a disk without
   * identifiers until the next boot. Undefined before Linux 5.15.
   */
  presence: string | undefined;
  /**
   * Output of commands that preconditions repeat. `below` lists the device and the partitions that
   * the kernel knows on it.
   */
  printed: { identity: string; below: string } & PrintedContent;
  /** Output for each partition, and whether the partition reads as zeros. */
  printedParts: readonly (PrintedContent &
    Pick<BlockDevice, 'name' | 'sizeBytes'> &
    Pick<DeviceFacts, 'isBlank'>)[];
  /**
   * For a partition: its entry in its parent's table. `inTable` is the number of the entry at its
   * place. `inTable` differs from the kernel's number if the table changed since the kernel read
   * it.
   */
  partition:
    | { number: number; inTable: number | undefined; scheme: string; uuid: string }
    | undefined;
  /** For a partition: the disk that it is on. */
  disk: BlockDevice | undefined;
  /**
   * For a whole disk: GUIDs at the places of the disk's GUID in a GPT and its backup. The table
   * itself may be unreadable.
   */
  tableUuids: readonly string[];
  /** Device-mapper UUID, such as `LVM-…`. */
  dmUuid: string | undefined;
  /**
   * Device-mapper UUID of a multipath map of the disk's paths: `mpath-` and the disk's WWID, such
   * as `mpath-3600…`.
   */
  mapUuid?: string | undefined;
  /** Partitions that the kernel knows on it. */
  partitions: readonly BlockDevice[];
  /** GUIDs of the partitions, as the table has them. */
  partitionUuids: readonly string[];
  /**
   * The same bytes under other kernel names, as two ports of a SAS disk without multipath have: for
   * a disk its other paths and their partitions; for a partition its counterparts and their disks.
   */
  otherPaths: readonly BlockDevice[];
}

export interface ObservedRaw extends ObservedDevice {
  type: 'raw';
}

interface ObservedDevice extends ObservedVolume {
  /** Object that the path leads to: nothing, something that is no block device, or the device. */
  target:
    | { is: 'missing' }
    | { is: 'other'; what: string }
    /**
     * `isElsewhere`: the path leads to another device or to none, and this one has the recorded
     * identity.
     */
    | { is: 'device'; facts: DeviceFacts; isElsewhere?: boolean };
  /** Other Volumes, by records on the node or known to the observer. */
  others: readonly Owner[];
}

/** Observed logical volume. `target` is its device, while it is active. */
export interface ObservedLvm extends ObservedDevice {
  type: 'lvm';
  /** Groups of the name: two disks from different machines can each have one. */
  groups: readonly VolumeGroup[];
  /** The logical volumes of the group. */
  volumes: readonly LogicalVolume[];
  /** Free extents to make or grow the volume with, and their content; none if it needs none. */
  free: readonly Extents[];
  /** Extents that LVM would choose, but that carry data, so that others are taken. */
  passedOver: readonly Extents[];
  space: Space;
  /**
   * Set if the node has neither the programs of LVM, nor records of the Volume, nor a logical
   * volume in its kernel: what it answered to a program of LVM.
   */
  lacksLvm?: string;
}

/** Volume that a device may belong to. */
export interface Owner {
  uid: string;
  name?: string;
  device?: { identity?: string; presence?: string; dmUuid?: string };
}

/**
 * Record that is written and synced before the first destructive step; `done` follows after the
 * last.
 */
export interface Intent {
  version: 1;
  uid: string;
  /** Name of the Volume, if the name is never reused. */
  once?: string;
  /** File to make. */
  file?: string;
  /** Device to prepare. `partuuid` is the earlier GUID of the partition. */
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
  /** Content of the device when it was observed, and the consent to destroy it. */
  signature: string;
  consent: string;
  /**
   * True if all preconditions of the first write held right before it: content that appeared since,
   * without a signature, stems from that write.
   */
  begun?: boolean;
  /** True if the device was seen empty and is being populated: any content stems from that. */
  filling?: boolean;
  /**
   * Earlier UID of the storage, which changes to the Volume's: the storage has data from the start.
   */
  adopt?: string;
  /**
   * GUID of the table around the partition of a Block volume in a file made by MetalK8s, which may
   * be any.
   */
  table?: string;
}

/** Permitted freeze of a mounted file system while it is copied. */
export interface Freeze {
  /** Maximum freeze in seconds. A clone takes at most 10 s, whatever this value is. */
  seconds: number;
  /** True if the freeze is also permitted for a copy of the data, where files cannot be cloned. */
  copy: boolean;
}

/** File that is copied. */
export interface SourceFacts {
  /** Path without symbolic links. */
  realPath: string;
  file: FileFacts;
  /** Signature of the file; `none` if it is missing. */
  signature: Signature;
  /** Recorded size (bytes) of a copied volume; undefined if no record has it. */
  madeBytes?: bigint | undefined;
  /** Output of `stateOf`; undefined if the file is missing. */
  state: string | undefined;
  /** True unless the file system of the copy is of a type that is known not to clone files. */
  mayClone: boolean;
}
