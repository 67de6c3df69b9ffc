import type { ReasonEntry } from './types.ts';

/** Backing files of volumes, and their loop devices. */
export const FILES = {
  OtherFileOnRecord: {
    message: 'the node records for this Volume {recorded}, not {file}',
    action: 'Delete this Volume and create it again.',
  },
  VolumeMadeBefore: {
    message:
      'a Volume {volume} was made on this node before, with the UID {uids}: its data may be in {directory}',
    action:
      "Is the API server one that was restored from a backup? Copy what is needed of {files}. Once that and {records} are moved away, 'stowage delete volume {volume}' lets the claim have a new volume.",
  },
  FileExists: {
    message: '{file} is there already, and nothing on the node says that Stowage made it',
    action:
      'Look at what it is. Move it away if it is not needed; the Volume is tried again when its spec changes or it is created anew.',
  },
  FileMadeMeanwhile: {
    message: '{file} was made meanwhile',
  },
  FileAppeared: {
    message: '{file} came into being meanwhile',
  },
  UnfinishedFileChanged: {
    message: 'something is in {file} that was not when it was looked at',
  },
  MadeFileMissing: {
    message: 'the backing file {file} was made before and is missing now',
    action:
      'Bring the file back, or delete the Volume if its data is given up. Nothing is made anew in its place.',
    cause: 'DeviceMissing',
  },
  BackingFileMissing: {
    message: 'the backing file {file} is missing',
    action:
      'Bring the file back, or delete the Volume if its data is given up. Nothing is made anew in its place.',
    cause: 'DeviceMissing',
  },
  NotPlainFile: {
    message: '{file} is not a plain file',
    action: 'Look at what took its place on the node.',
  },
  FileContentDiffers: {
    message: '{file} should hold {wanted}, but {found} was found',
    action: 'The file was replaced or damaged. It is left as it is.',
  },
  FileContentChanged: {
    message: '{file} no longer holds what was made in it',
  },
  FileReplaced: {
    message: '{file} is no longer the file [of {bytes} bytes ]that it was',
  },
  FileAttachedMeanwhile: {
    message: '{file} was attached by someone meanwhile',
  },
  FileStillAttached: {
    message: '{file} is still attached to a loop device',
  },
  LoopAttachedTwice: {
    message: '{file} is attached more than once: {devices}',
    action:
      'Writing through more than one of them destroys data. Detach all but one with losetup -d.',
  },
  LoopHasEarlierFile: {
    message: '{device} has an earlier file of the name {file}, which was removed or replaced',
    action:
      'The data is still reachable through the device. Copy it away, then detach it with losetup -d {device}. Or [set onDelete to {onDelete}, as it is not wiped from there, and ]delete the Volume if its data is given up.',
  },
  LoopFileMoved: {
    message:
      '{device}, which the persistent path leads to, has {found} and not {file}: that was removed, replaced, moved or unmounted while it was attached',
    action:
      'What was written last may be reachable through the device alone. See to that, and that nothing uses it; then: losetup -d {device}',
  },
  LoopFileChanged: {
    message: '{device} no longer has {file}',
  },
  LoopDetachPending: {
    message: '{device} was detached while in use and goes when its last user does',
    action: 'It is attached anew once it is gone.',
  },
  LoopOfPart: {
    message: '{device} was attached by someone else: a part of the file only',
    action: 'Detach it with losetup -d {device}; it is then attached as it should be.',
  },
  LoopReadOnly: {
    message:
      '{device} was attached by someone else: read-only, or the file could not be opened to write',
    action:
      'See that the file system of {file} is not mounted read-only. Detach it with losetup -d {device}; it is then attached as it should be.',
  },
  LoopWritable: {
    message: '{device} was attached by someone else: so that it can be written to',
    action: 'Detach it with losetup -d {device}; it is then attached as it should be.',
  },
  PathAstray: {
    message: "{path} leads to {found}, not to the volume's device {device}",
    shows: 'PathAstray',
  },
  PathAstrayWithoutDevice: {
    message: '{path} leads to {found}, and the volume has no device',
    shows: 'PathAstray',
  },
  PartitionLayoutUnknown: {
    message: 'nothing on the node says how the partition in {file} was made, so it is not grown',
    action: 'Set the size in the spec back, or grow file and partition by hand.',
  },
  PartitionReplaced: {
    message: '{device} is not the partition that was made',
  },
  AdoptedFileMissing: {
    message: 'there is no file {file} on the node',
    action: 'Check the directory and the UID. Nothing is made in its place.',
  },
  AdoptedFilePathHasSpace: {
    message: 'no file system is adopted in {directory}: the path has a space',
    action:
      'Move the file to a directory whose path has none, in the same file system, and adopt it there.',
  },
  AdoptedFileIsSnapshot: {
    message: "{file} is a snapshot, by its directory, and no Volume's",
    action:
      'A snapshot is not adopted. Restore it: create a claim whose dataSource is its VolumeSnapshot.',
  },
  AdoptedFileNameTaken: {
    message: '{file} is there already',
    action: 'Look at what it is, and move it away if it is not needed.',
  },
  AdoptedFileForeign: {
    message: '{file} is no volume that Stowage made: {found} was found',
    action: 'It is left as it is.',
  },
  AdoptedFileModeDiffers: {
    message: '{file} is of a Volume of mode {found}, and not {mode}',
    action: 'Create the Volume with mode {found}.',
  },
  AdoptedFileUuidDiffers: {
    message: '{file} holds the file system {found}, and not that of a Volume with the UID {uid}',
    action: 'It was replaced or renamed. It is left as it is.',
  },
  AdoptedFileTooSmall: {
    message: '{file} has {bytes} bytes, which is less than a table takes',
    action: 'It is left as it is.',
  },
  AdoptedFileAttached: {
    message: '{file} is in use: it is attached as {device}',
    action: 'Take it out of use: unmount it, then losetup -d {device}.',
  },
  AdoptedFileIsBack: {
    message: '{file} is there again, beside what was taken of that name',
    action: 'Look at both, and move one away: {taken}, {unfinished}.',
  },
  Metalk8sFileMissing: {
    message: 'the backing file {file} is missing',
    action: 'Bring the file back.',
  },
  Metalk8sFileLinkDiffers: {
    message: 'the persistent link of this Volume does not lead to {device}, which has {file}',
    action:
      'Another device carries the same UUID, or the kernel has not read the table: look at lsblk -o NAME,UUID,PARTUUID.',
  },
  Metalk8sFileNotAttached: {
    message: 'nothing tells whose the partition in {file} is, for it is not attached',
    action: 'Have MetalK8s attach it: systemctl restart metalk8s-sparse-volume@{uid}.',
  },
  Metalk8sFileUuidDiffers: {
    message: "{path} is not this Volume's: its {tag} is not {uid}",
  },
  Metalk8sPathForeign: {
    message: 'its PersistentVolume leads to {path}, which is no path of its device',
    action: 'MetalK8s makes no such one: look at the PersistentVolume.',
  },
} as const satisfies Record<string, ReasonEntry>;
