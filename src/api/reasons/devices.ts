import type { ReasonEntry } from './types.ts';

/**
 * Advice on ending a use: a command that ends it, one that lists it, the kubelet, or nothing known.
 */
export const USE_ENDS =
  '[ To end that, run on the node: {command}][ To see which, run on the node: {look}][ The {kubelet} of the node ends that once no container of the pod runs any more.][ Nothing is known that ends {use}.]';

const LEAVE_OUT_OF_MULTIPATH =
  'If the disk has one path only, leave it out of multipath: add [wwid "{wwid}"][the WWID that /lib/udev/scsi_id -g -u {disk} prints] to the blacklist section of /etc/multipath.conf on the node, then: multipath -F && multipathd reconfigure.';

export const OR_RETAIN =
  'Bring the device back; or set spec.onDelete to Retain, and the Volume goes without touching any device.';

/** Devices, their identity, content and users. */
export const DEVICES = {
  DeviceMissing: {
    message: 'there is no device {device} on the node',
    action: 'Check the path and the disk. Nothing is made on another device.',
    cause: 'DeviceMissing',
  },
  NoBlockDevice: {
    message: '{path} is no disk, partition or logical volume but a {kind}',
    action: 'Give the path of a disk, a partition or a logical volume.',
  },
  DeviceReadOnly: {
    message: '{device} is read-only',
    action: 'Use a device that can be written to.',
  },
  DeviceWithoutMedium: {
    message: '{device} has no medium of a size',
    action: 'Use a disk, a partition or a logical volume.',
  },
  DeviceTooSmall: {
    message: '{device} has {bytes} bytes, and a Volume needs {needed} at least',
    action: 'Use a larger device.',
  },
  FileSystemTooSmall: {
    message: 'an {type} file system needs {needed} bytes ({size}) at least, and there are {bytes}',
    action: 'Make the Volume larger, or use a storage class with fsType ext4.',
  },
  DeviceNamedByContent: {
    message: '{path} is named after what is on the device, and goes with it',
    action: 'Name the device by what lasts: a path below /dev/disk/by-id or /dev/disk/by-path.',
  },
  DeviceInnerOfLVM: {
    message:
      '{device} is an inner part of a logical volume ({uuid}), such as what a thin pool keeps its volumes in',
    action:
      'Use a logical volume itself. What LVM keeps for itself is in use, also where nothing has it open.',
  },
  PartitionWithoutGUID: {
    message:
      '{device} is partition {number} of a table of type {scheme}, whose partitions have no GUID that could become its persistent name',
    action: 'Use a partition of a GPT, or mode Filesystem.',
  },
  PartitionTableUnread: {
    message:
      'the kernel has {device} as partition {number}, and the partition table has {found} at its place',
    action:
      'The table was changed since the kernel read it. Have it read anew: partprobe, or a restart of the node.',
  },
  MultipathMapUndivided: {
    message: '{device} is a map of multipathd, on which the kernel makes no partitions',
    action: `Use mode Filesystem, or a logical volume on it. ${LEAVE_OUT_OF_MULTIPATH}`,
  },
  MultipathTookDisk: {
    message: 'multipathd has taken the disk as {device} and made no partition of it',
    action: LEAVE_OUT_OF_MULTIPATH,
  },
  MapperDeviceNotLVM: {
    message: '{device} is a device-mapper device ({uuid}) that is no logical volume',
    action: 'Use the disk below it, a logical volume, or mode Filesystem.',
  },
  DeviceOfAnother: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action:
      'Two Volumes cannot share a device. Delete that Volume first[, or use another {instead}. What a Volume that is gone left on the node is listed by stowage check node].',
    cause: 'DeviceOfAnother',
  },
  DeviceMaybeOfAnother: {
    message:
      '{device} may belong to another Volume, [{volume}][with the UID {uid}]: its disk has the same serial number or WWN, and nothing that is on record tells the two apart',
    action:
      'Two Volumes cannot share a device. Delete that Volume first[, or use another {instead}. What a Volume that is gone left on the node is listed by stowage check node].',
  },
  DeviceTaken: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action: 'Delete this Volume: nothing on the node is of it any more.',
    cause: 'DeviceOfAnother',
  },
  DeviceNotFree: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: 'Nothing is written to a device in use. Use another device, or take it out of use.',
    cause: 'DeviceInUse',
  },
  MultipathUsesDisk: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: LEAVE_OUT_OF_MULTIPATH,
    cause: 'DeviceInUse',
  },
  DeviceCarriesData: {
    message:
      '{device} carries {content}[. The consent that was given is for {consent}, which is not what is there]',
    action:
      'Use another device. Or, if all of that may be destroyed, set spec.overwrite to {overwrite}.',
    cause: 'SignatureFound',
  },
  RecordOfAnotherDevice: {
    message:
      'the node records for this Volume the device {recorded}[ ({recordedIdentity})], and {path} is now {device} ({identity})',
    action: 'Bring the device back to its path, or delete this Volume and create it again.',
  },
  DeviceExchanged: {
    message:
      '{path} is now {device} ({identity}), and not the device that was made ready ({recorded})',
    action:
      'Bring the device back, or delete the Volume if its data is given up. Nothing is made anew on another device.',
  },
  MadeContentMissing: {
    message: '{device} should carry what was made for this Volume, but {content} was found',
    action: 'It was overwritten or exchanged. It is left as it is.',
  },
  UdevAbsent: {
    message: 'no udev runs on the node, so {link} would never appear',
    action: 'Start systemd-udevd on the node.',
  },
  AnotherAdoptionRecorded: {
    message: "the node records for this Volume {record}, and not that it adopts what was {uid}'s",
    action: 'Delete this Volume and create it again.',
  },
  AdoptedVolumeUnmarked: {
    message: 'nothing on the logical volume {device} tells whose it is, with mode Block',
    action: 'Adopt it as a logical volume: spec.lvmLogicalVolume, or --vg and --lv.',
  },
  AdoptedDiskDivided: {
    message: '{device} has {partitions} partitions, and a Volume of mode Block has one',
    action: 'Give the path of the partition that is to be adopted.',
  },
  AdoptedModeDiffers: {
    message:
      '[the logical volume {volume}][{device}] is of a Volume of mode {found}, and not {mode}',
    action: 'Create the Volume with mode {found}.',
  },
  AdoptedContentDiffers: {
    message:
      '{device} carries {content}, which is not what Stowage made for a Volume with the UID {uid}',
    action:
      'Give the UID that the device is named by: the UUID of its file system, or the GUID of its partition. It is left as it is.',
  },
  UseHoldsAdoption: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: `What is in use is not adopted. Take it out of use.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  AdoptedMeanwhile: {
    message: 'the storage of {volume} was adopted meanwhile',
  },
  AdoptedDeviceExchanged: {
    message:
      '{path} is now {device} ({identity}), and not its device[, {recorded} ({recordedIdentity})]',
    action: 'Bring its device back.',
  },
  UseHoldsPutBack: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: 'It gets back the UID that it had once nothing uses it any more.',
    cause: 'DeviceInUse',
  },
  RecognisedDeviceOfAnother: {
    message: '{device} belongs to another Volume, [{volume}][with the UID {uid}]',
    action: 'Two Volumes cannot share a device. Delete one of them, with MetalK8s.',
    cause: 'DeviceOfAnother',
  },
  RecognisedDeviceMaybeOfAnother: {
    message:
      '{device} may belong to another Volume, [{volume}][with the UID {uid}]: its disk has the same serial number or WWN, and nothing that is on record tells the two apart',
    action: 'Two Volumes cannot share a device. Delete one of them, with MetalK8s.',
  },
  RecognisedContentDiffers: {
    message: '{device} carries {content}, and not what MetalK8s makes for this Volume',
    action: 'It was overwritten or exchanged. It is left as it is.',
  },
  LinkLeadsElsewhere: {
    message: '{link} does not lead to {device}',
    action:
      'Another device carries the same UUID, or the kernel has not read the table: look at lsblk -o NAME,UUID,PARTUUID.',
  },
  AnotherRecordFound: {
    message: 'the node records for this Volume {record}, and not {wanted}',
    action: 'Stowage has begun to make it otherwise. Look at both on the node.',
  },
  DeviceInUse: {
    message: '{device} is in use: {uses}',
    action: `It is detached once nothing uses it any more.${USE_ENDS}`,
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
      '{device} is in use: its file system is mounted where no process shows it, after umount -l or in a mount namespace without a process',
    cause: 'DeviceInUse',
  },
  DeviceMadeIntoAnother: {
    message: '{device} is in use: another device is made of it',
    cause: 'DeviceInUse',
  },
  DeviceIsSwap: {
    message: '{device} is in use: it is swap',
    cause: 'DeviceInUse',
  },
  DeviceClaimed: {
    message: '{device} is in use: the system has it open for itself alone',
    cause: 'DeviceInUse',
  },
  OpenToWrite: {
    message: '{path} is in use: a process has it open to write to it',
    cause: 'DeviceInUse',
  },
  DeviceOpen: {
    message: '{device} is in use: a process has it open',
    action: 'To see which, run on the node: {look}',
    cause: 'DeviceInUse',
  },
  UseUnknown: {
    message:
      'whether a process has {device} open cannot be seen, for the open files of the node could not be listed within 10 s: one of them may be on a file server that does not answer',
  },
  KubeletUsesVolume: {
    message: 'the volume {volume} is in use: {uses}',
    action:
      'It is detached once nothing uses it any more. The kubelet of the node ends that once no container of the pod runs any more.',
    cause: 'WaitingForUnmount',
  },
  KubeletFoldersLeft: {
    message: 'the kubelet still has folders for the PersistentVolume {volume}',
    cause: 'WaitingForUnmount',
  },
  KubeletMountsAnother: {
    message:
      'the kubelet has another volume of the name {volume} mounted at {mountPoint}, and would show that to pods',
    action:
      'It goes once the pods of that volume are gone. If there are none left, unmount it on the node.',
    cause: 'WaitingForUnmount',
  },
  DeviceChanged: {
    message: '{device} is no longer the device that was looked at',
  },
  PartitionsChanged: {
    message: '{device} has other partitions than when it was looked at',
  },
  PartitionMoved: {
    message: '{device} has another place in the partition table than when it was looked at',
  },
  ContentChanged: {
    message: 'what is on {device} changed since it was looked at',
  },
  ContentUnreadable: {
    message: '{device} cannot be read, so it is not known what is on it',
  },
  DeviceNotEmpty: {
    message: 'something is on {device} that was not there when it was looked at',
  },
  DeviceNotBlank: {
    message: 'data is on {device} that was not there when it was looked at',
  },
  DeviceMadeMeanwhile: {
    message: '{device} was made ready meanwhile',
  },
  FileSystemGone: {
    message: '{device} no longer holds the file system {uuid}',
  },
  UseHoldsCleaning: {
    message: '{device}[, another path of the disk of {path},] is in use: {uses}',
    action: `It is cleaned once nothing uses it any more.${USE_ENDS}`,
    cause: 'DeviceInUse',
  },
  DeletedDeviceExchanged: {
    message: '{path} is now {device} ({identity}), and not the device of this Volume ({recorded})',
    action: OR_RETAIN,
  },
  ContentOfAnother: {
    message: '{device} carries {content}, which is not of this Volume',
    action: OR_RETAIN,
  },
  ContentNotMade: {
    message: '{device} carries {content}, and not what was made for this Volume',
    action: OR_RETAIN,
  },
  ContentOfUnknown: {
    message:
      '{device} carries {content}, which does not tell whose it is, and nothing that is on record tells the disk from another',
    action: OR_RETAIN,
  },
  WipedBeyondEnd: {
    message: 'the node records that {wiped} bytes of {device} were wiped, and it has {bytes}',
    action: OR_RETAIN,
  },
  WrittenWhileWiped: {
    message: 'something was put on {path} while it was being wiped',
  },
  IdentityLeft: {
    message: '{device} still carries {uuid}',
  },
} as const satisfies Record<string, ReasonEntry>;
