import type { ReasonEntry } from './types.ts';

/**
 * Advice on ending a use: a command that ends it, one that lists it, the kubelet, or nothing known.
 */
export const USE_ENDS =
  '[ To end this use, run on the node: {command}][ To list the processes, run on the node: {look}][ The {kubelet} on the node releases it once no container of the pod runs.][ Stowage knows no command that ends {use} use.]';

const LEAVE_OUT_OF_MULTIPATH =
  'If the disk has only one path, exclude it from multipath: add [wwid "{wwid}"][the WWID that /lib/udev/scsi_id -g -u {disk} prints] to the blacklist section of /etc/multipath.conf on the node, then: multipath -F && multipathd reconfigure';

export const OR_RETAIN =
  'Bring the device back. Or set spec.onDelete to Retain: the Volume is then deleted without touching any device.';

/** Devices, their identity, content and users. */
export const DEVICES = {
  DeviceMissing: {
    message: 'there is no device {device} on the node',
    action: 'Check the path and the disk. Stowage uses no other device instead.',
    cause: 'DeviceMissing',
  },
  NoBlockDevice: {
    message: '{path} is a {kind}, not a disk, partition or logical volume',
    action: 'Give the path of a disk, a partition or a logical volume.',
  },
  DeviceReadOnly: {
    message: '{device} is read-only',
    action: 'Use a writable device.',
  },
  DeviceWithoutMedium: {
    message: '{device} has no usable medium',
    action: 'Use a disk, a partition or a logical volume.',
  },
  DeviceTooSmall: {
    message: '{device} has {bytes} bytes, and a Volume needs at least {needed}',
    action: 'Use a larger device.',
  },
  FileSystemTooSmall: {
    message:
      'an {type} file system needs at least {needed} bytes ({size}), and only {bytes} are available',
    action: 'Make the Volume larger, or use a storage class with fsType ext4.',
  },
  DeviceNamedByContent: {
    message: '{path} is derived from the content of the device, and vanishes with it',
    action: 'Use a path that lasts, below /dev/disk/by-id or /dev/disk/by-path.',
  },
  DeviceInnerOfLVM: {
    message: '{device} is an internal device of LVM ({uuid}), such as the data of a thin pool',
    action:
      'Use a logical volume itself. The internal devices of LVM are in use even if nothing has them open.',
  },
  PartitionWithoutGUID: {
    message:
      '{device} is partition {number} of a table of type {scheme}, whose partitions have no GUID for a persistent name',
    action: 'Use a GPT partition, or mode Filesystem.',
  },
  PartitionTableUnread: {
    message:
      'the kernel has {device} as partition {number}, but the partition table has {found} in its place',
    action:
      'The table changed after the kernel read it. Run partprobe on the node, or reboot the node.',
  },
  MultipathMapUndivided: {
    message: '{device} is a multipath map, on which the kernel creates no partitions',
    action: `Use mode Filesystem, or a logical volume on it. ${LEAVE_OUT_OF_MULTIPATH}`,
  },
  MultipathTookDisk: {
    message: 'multipathd claimed the disk as {device} and created no partition on it',
    action: LEAVE_OUT_OF_MULTIPATH,
  },
  MapperDeviceNotLVM: {
    message: '{device} is a device-mapper device ({uuid}), but not a logical volume',
    action: 'Use the disk below it, a logical volume, or mode Filesystem.',
  },
  DeviceOfAnother: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action:
      'Two Volumes cannot share a device. Delete the other Volume first[, or use another {instead}. If that Volume is gone, list what it left on the node: stowage check node].',
    cause: 'DeviceOfAnother',
  },
  DeviceMaybeOfAnother: {
    message:
      '{device} may belong to another Volume, [{volume}][with the UID {uid}]: their disks have the same serial number or WWN, and no record tells them apart',
    action:
      'Two Volumes cannot share a device. Delete the other Volume first[, or use another {instead}. If that Volume is gone, list what it left on the node: stowage check node].',
  },
  DeviceTaken: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action: 'Delete this Volume: nothing on the node belongs to it.',
    cause: 'DeviceOfAnother',
  },
  DeviceNotFree: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: 'Use another device, or release this one. Stowage never writes to a device in use.',
    cause: 'DeviceInUse',
  },
  MultipathUsesDisk: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: LEAVE_OUT_OF_MULTIPATH,
    cause: 'DeviceInUse',
  },
  DeviceCarriesData: {
    message: '{device} contains {content}[. spec.overwrite allows only {consent} to be destroyed]',
    action:
      'Use another device. Or, if all of that may be destroyed, set spec.overwrite (--overwrite) to {overwrite}.',
    cause: 'SignatureFound',
  },
  RecordOfAnotherDevice: {
    message:
      "the node's record for this Volume has the device {recorded}[ ({recordedIdentity})], but {path} is now {device} ({identity})",
    action: 'Bring the device back to its path, or delete this Volume and create it again.',
  },
  DeviceExchanged: {
    message:
      '{path} is now {device} ({identity}), not the device that was provisioned ({recorded})',
    action:
      'Bring the device back, or delete the Volume if its data may be lost. Stowage uses no other device instead.',
  },
  MadeContentMissing: {
    message: '{device} should contain what was created for this Volume, but {content} was found',
    action:
      'It was overwritten or replaced. Bring the earlier device or content back: Stowage does not change it.',
  },
  UdevAbsent: {
    message: 'udev is not running on the node, so {link} would never appear',
    action: 'Start systemd-udevd on the node.',
  },
  AnotherAdoptionRecorded: {
    message:
      "the node's record for this Volume is {record}, not that of adopting the storage with the UID {uid}",
    action: 'Delete this Volume and create it again.',
  },
  AdoptedVolumeUnmarked: {
    message: 'nothing on the logical volume {device} shows its owner in mode Block',
    action: 'Adopt it as a logical volume, with spec.lvmLogicalVolume, or with --vg and --lv.',
  },
  AdoptedDiskDivided: {
    message: '{device} has {partitions} partitions, and a Volume of mode Block has one',
    action: 'Give the path of the partition to adopt.',
  },
  AdoptedModeDiffers: {
    message:
      '[the logical volume {volume}][{device}] belongs to a Volume of mode {found}, not {mode}',
    action: 'Create the Volume with mode {found}.',
  },
  AdoptedContentDiffers: {
    message:
      '{device} contains {content}, not what Stowage created for a Volume with the UID {uid}',
    action:
      'Give the UID that the device has: the UUID of its file system, or the GUID of its partition. Stowage does not change the device.',
  },
  UseHoldsAdoption: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: `Release it first: Stowage does not adopt a device in use.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  AdoptedMeanwhile: {
    message: 'the storage of {volume} was adopted meanwhile',
  },
  AdoptedDeviceExchanged: {
    message:
      '{path} is now {device} ({identity}), not the device of the adoption[, {recorded} ({recordedIdentity})]',
    action: 'Bring the device of the adoption back.',
  },
  UseHoldsPutBack: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: 'It gets its earlier UID back once nothing uses it.',
    cause: 'DeviceInUse',
  },
  RecognisedDeviceOfAnother: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action: 'Two Volumes cannot share a device. Delete one of them with MetalK8s.',
    cause: 'DeviceOfAnother',
  },
  RecognisedDeviceMaybeOfAnother: {
    message:
      '{device} may belong to another Volume, [{volume}][with the UID {uid}]: their disks have the same serial number or WWN, and no record tells them apart',
    action: 'Two Volumes cannot share a device. Delete one of them with MetalK8s.',
  },
  RecognisedContentDiffers: {
    message: '{device} contains {content}, not what MetalK8s creates for this Volume',
    action:
      'It was overwritten or replaced. Bring the earlier device or content back: Stowage does not change it.',
  },
  LinkLeadsElsewhere: {
    message: '{link} does not lead to {device}',
    action:
      'Another device has the same UUID, or the kernel has not read the table. Compare: lsblk -o NAME,UUID,PARTUUID',
  },
  AnotherRecordFound: {
    message: "the node's record for this Volume is {record}, not {wanted}",
    action: 'Stowage started to provision this Volume differently. Compare both on the node.',
  },
  DeviceInUse: {
    message: '{device} is in use: {uses}',
    action: `It is detached once nothing uses it.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  LoopStackedOnDevice: {
    message: '{device} is in use: another loop device is stacked on it',
    cause: 'DeviceInUse',
  },
  DeviceMounted: {
    message: '{device} is in use: it is mounted',
    cause: 'DeviceInUse',
  },
  DeviceMountedUnseen: {
    message:
      '{device} is in use: its file system is mounted where no process sees it, after umount -l or in a mount namespace without a process',
    cause: 'DeviceInUse',
  },
  DeviceMadeIntoAnother: {
    message: '{device} is in use by another device, or no longer exists',
    cause: 'DeviceInUse',
  },
  DeviceIsSwap: {
    message: '{device} is in use: it is swap',
    cause: 'DeviceInUse',
  },
  DeviceClaimed: {
    message: '{device} is in use: it is open exclusively',
    cause: 'DeviceInUse',
  },
  OpenToWrite: {
    message: '{path} is in use: a process has it open for writing',
    cause: 'DeviceInUse',
  },
  DeviceOpen: {
    message: '{device} is in use: a process has it open',
    action: 'To list the processes, run on the node: {look}',
    cause: 'DeviceInUse',
  },
  UseUnknown: {
    message:
      'cannot determine whether a process has {device} open: listing the open files of the node took over 10 s, and one of them may be on a file server that does not respond',
  },
  KubeletUsesVolume: {
    message: 'the volume {volume} is in use: {uses}',
    action:
      'It is detached once nothing uses it. The kubelet on the node releases it once no container of the pod runs.',
    cause: 'WaitingForUnmount',
  },
  KubeletFoldersLeft: {
    message: 'the kubelet still has directories for the PersistentVolume {volume}',
    cause: 'WaitingForUnmount',
  },
  KubeletMountsAnother: {
    message:
      'the kubelet has another volume named {volume} mounted at {mountPoint}, and would expose that one to pods',
    action:
      'It is unmounted once the pods of that volume are gone. If there are none left, unmount it on the node.',
    cause: 'WaitingForUnmount',
  },
  DeviceChanged: {
    message: '{device} is no longer the observed device',
  },
  PartitionsChanged: {
    message: 'the partitions of {device} changed after it was observed',
  },
  PartitionMoved: {
    message: 'the partition table entry of {device} changed after it was observed',
  },
  ContentChanged: {
    message: 'the content of {device} changed after it was observed',
  },
  ContentUnreadable: {
    message: '{device} cannot be read, so its content is unknown',
  },
  DeviceNotEmpty: {
    message: '{device} is not empty: content appeared after it was observed',
  },
  DeviceNotBlank: {
    message: '{device} is not blank: data appeared after it was observed',
  },
  DeviceMadeMeanwhile: {
    message: '{device} was provisioned meanwhile',
  },
  FileSystemGone: {
    message: '{device} no longer contains the file system {uuid}',
  },
  UseHoldsCleaning: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: `It is cleaned once nothing uses it.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  DeletedDeviceExchanged: {
    message: '{path} is now {device} ({identity}), not the device of this Volume ({recorded})',
    action: OR_RETAIN,
  },
  ContentOfAnother: {
    message: '{device} contains {content}, which does not belong to this Volume',
    action: OR_RETAIN,
  },
  ContentNotMade: {
    message: '{device} contains {content}, not what was created for this Volume',
    action: OR_RETAIN,
  },
  ContentOfUnknown: {
    message:
      '{device} contains {content}, which does not show its owner, and no record tells the disk from another',
    action: OR_RETAIN,
  },
  WipedBeyondEnd: {
    message: "the node's record has {wiped} bytes of {device} as wiped, but the device has {bytes}",
    action: OR_RETAIN,
  },
  WrittenWhileWiped: {
    message: '{path} was written to while it was being wiped',
  },
  IdentityLeft: {
    message: '{device} still has the UUID {uuid}',
  },
} as const satisfies Record<string, ReasonEntry>;
