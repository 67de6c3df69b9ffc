import type { ReasonEntry } from './types.ts';

/** Backing files of volumes, and their loop devices. */
export const FILES = {
  OtherFileOnRecord: {
    message: "the node's record for this Volume has {recorded}, not {file}",
    action: 'Delete this Volume and create it again.',
  },
  VolumeMadeBefore: {
    message:
      'a Volume {volume} with the UID {uids} was provisioned on this node before: its data may be in {directory}',
    action:
      'The API server may have been restored from a backup. Copy the data that you need from {files}, and move these files and {records} away. Then let the claim get a new volume: stowage delete volume {volume}',
  },
  FileExists: {
    message: '{file} already exists, and nothing on the node shows that Stowage created it',
    action:
      'Check the file, and move it away if it is not needed. Then retry the Volume: stowage retry volume NAME',
  },
  FileMadeMeanwhile: {
    message: '{file} was created meanwhile',
  },
  FileAppeared: {
    message: '{file} appeared meanwhile',
  },
  UnfinishedFileChanged: {
    message: '{file} is not empty: content appeared after it was observed',
  },
  MadeFileMissing: {
    message: 'the backing file {file} was created before and is missing now',
    action:
      'Bring the file back, or delete the Volume if its data may be lost. Stowage does not recreate it.',
    cause: 'DeviceMissing',
  },
  BackingFileMissing: {
    message: 'the backing file {file} is missing',
    action:
      'Bring the file back, or delete the Volume if its data may be lost. Stowage does not recreate it.',
    cause: 'DeviceMissing',
  },
  NotPlainFile: {
    message: '{file} is not a regular file',
    action: 'Check on the node what took its place.',
  },
  FileContentDiffers: {
    message: '{file} should contain {wanted}, but {found} was found',
    action:
      'The file was replaced or damaged. Bring the earlier one back: Stowage does not change it.',
  },
  FileContentChanged: {
    message: '{file} no longer contains what was created in it',
  },
  FileReplaced: {
    message: '{file} is no longer the observed file[ of {bytes} bytes]',
  },
  FileAttachedMeanwhile: {
    message: 'another program attached {file} meanwhile',
  },
  FileStillAttached: {
    message: '{file} is still attached to a loop device',
  },
  LoopAttachedTwice: {
    message: '{file} is attached more than once: {devices}',
    action:
      'Writing through more than one of them destroys data. Detach all but one: losetup -d DEVICE',
  },
  LoopHasEarlierFile: {
    message: '{device} has an earlier file named {file}, which was removed or replaced',
    action:
      'The data is still reachable through the device. Copy it, then detach the device: losetup -d {device}. Or [set onDelete to {onDelete}, as the data cannot be wiped there, and ]delete the Volume if its data may be lost.',
  },
  LoopFileMoved: {
    message:
      '{device}, to which the persistent path leads, has {found}, not {file}: the file was removed, replaced, moved or unmounted while it was attached',
    action:
      'The last writes may be reachable only through the device. Save them, make sure that nothing uses the device, then detach it: losetup -d {device}',
  },
  LoopFileChanged: {
    message: '{device} no longer has {file}',
  },
  LoopDetachPending: {
    message: '{device} was detached while in use, and is released with its last user',
    action: 'It is attached again once it is released.',
  },
  LoopOfPart: {
    message: 'another program attached {device} with only a part of the file',
    action: 'Detach it, so that Stowage attaches the file correctly: losetup -d {device}',
  },
  LoopReadOnly: {
    message:
      '{device} is attached read-only, by another program or because the file could not be opened for writing',
    action:
      'Make sure that the file system of {file} is not mounted read-only. Then detach the device, so that Stowage attaches the file correctly: losetup -d {device}',
  },
  LoopWritable: {
    message: 'another program attached {device} for writing',
    action: 'Detach it, so that Stowage attaches the file correctly: losetup -d {device}',
  },
  PathAstray: {
    message: "{path} leads to {found}, not to the volume's device {device}",
    shows: 'PathAstray',
  },
  PathAstrayWithoutDevice: {
    message: '{path} leads to {found}, and the volume has no device',
    shows: 'PathAstray',
  },
  PartitionReplaced: {
    message: '{device} is not the partition that was created',
  },
  AdoptedFileMissing: {
    message: 'there is no file {file} on the node',
    action: 'Check the directory and the UID. Stowage creates no file instead.',
  },
  AdoptedFilePathHasSpace: {
    message: 'a file system in {directory} cannot be adopted: the path has a space',
    action:
      'Move the file to a directory without a space in its path, on the same file system, and adopt it there.',
  },
  AdoptedFileIsSnapshot: {
    message: '{file} is a snapshot, as its directory shows, not the file of a Volume',
    action:
      'A snapshot cannot be adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
  },
  AdoptedFileNameTaken: {
    message: '{file} already exists',
    action: 'Check the file, and move it away if it is not needed.',
  },
  AdoptedFileForeign: {
    message: '{file} is not a volume that Stowage created: {found} was found',
    action: 'Check the UID. Stowage does not change the file.',
  },
  AdoptedFileModeDiffers: {
    message: '{file} belongs to a Volume of mode {found}, not {mode}',
    action: 'Create the Volume with mode {found}.',
  },
  AdoptedFileUuidDiffers: {
    message: '{file} contains the file system {found}, not that of a Volume with the UID {uid}',
    action: 'The file was replaced or renamed. Check the UID: Stowage does not change the file.',
  },
  AdoptedFileTooSmall: {
    message: '{file} has {bytes} bytes, less than a partition table needs',
    action: 'Check the UID. Stowage does not change the file.',
  },
  AdoptedFileAttached: {
    message: '{file} is in use: it is attached as {device}',
    action: 'Unmount it, then detach it: losetup -d {device}',
  },
  AdoptedFileIsBack: {
    message: '{file} exists again, beside the file that the adoption renamed',
    action:
      'Compare it with the renamed file ({taken} or {unfinished}), and move one of them away.',
  },
  Metalk8sFileMissing: {
    message: 'the backing file {file} is missing',
    action: 'Bring the file back.',
  },
  Metalk8sFileLinkDiffers: {
    message: 'the persistent link of this Volume does not lead to {device}, which has {file}',
    action:
      'Another device has the same UUID, or the kernel has not read the table. Compare: lsblk -o NAME,UUID,PARTUUID',
  },
  Metalk8sFileNotAttached: {
    message: 'nothing shows the owner of the partition in {file}, since the file is not attached',
    action: 'Attach it with MetalK8s: systemctl restart metalk8s-sparse-volume@{uid}',
  },
  Metalk8sFileUuidDiffers: {
    message: '{path} does not belong to this Volume: its {tag} is not {uid}',
  },
  Metalk8sPathForeign: {
    message: 'its PersistentVolume leads to {path}, which is not a path of its device',
    action: 'Check the PersistentVolume: MetalK8s creates none with such a path.',
  },
} as const satisfies Record<string, ReasonEntry>;
