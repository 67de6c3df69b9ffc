import type { ReasonEntry } from './types.ts';

/** Copies of volumes: snapshots on a node, and what is restored from them. */
export const COPIES = {
  SharedFileNotCopied: {
    message:
      '{file} is on a directory that several nodes share, and snapshots of such volumes are not taken',
    action: 'Copy its data within a pod.',
  },
  CopiedFileMissing: {
    message: '{what}, {file}, is missing',
    action: 'Bring the file back. Nothing is made in its place.',
  },
  CopiedFileDiffers: {
    message: '{what}, {file}, should hold {wanted}, but {found} was found',
    action: 'The file was replaced or damaged. Nothing is made of it.',
  },
  CopiedFileGrowing: {
    message: '{file} is larger than what was made in it: it is being grown',
    action: 'It is copied once it has grown.',
  },
  CopiedFileInUse: {
    message: "{file} can't be copied while {device} is in use: {uses}",
    action: 'It is copied once nothing uses it any more.',
    cause: 'DeviceInUse',
  },
  FolderCannotClone: {
    message:
      '{device} is mounted at {mountPoint}, and the folder of {file} is on a file system that cannot clone files: a copy would freeze it for as long as that takes',
    action:
      'Allow a frozen copy in the VolumeSnapshotClass, or take the snapshot while no pod has the volume.',
  },
  CopiedFileWritten: {
    message: '{file} was written to while it was copied',
  },
  CopiedFileReplaced: {
    message: '{file} no longer holds {uuid}',
  },
  CopiedFileModeDiffers: {
    message: '{volume} is to have mode {mode}, and {what} has {found}',
    action: 'Create a Volume of the same mode.',
  },
  CopiedFileLarger: {
    message: '{volume} is to have {bytes} bytes, and {what} has {found}',
    action: 'Ask for that much at least.',
  },
  FileUuidDiffers: {
    message: '{file} does not have the UUID {uuid}',
  },
  PartitionGuidDiffers: {
    message: 'the partition in {file} does not have the GUID {guid}',
  },
  PartitionElsewhere: {
    message: 'the partition in {file} begins elsewhere',
  },
  SnapshotFileMissing: {
    message: "the snapshot's file {file} is missing",
  },
  SnapshotFileDiffers: {
    message: "the snapshot's file {file} should hold {wanted}, but {found} was found",
  },
} as const satisfies Record<string, ReasonEntry>;
