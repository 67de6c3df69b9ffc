import type { ReasonEntry } from './types.ts';

/** Copies of volumes: snapshots on a node, and what is restored from them. */
export const COPIES = {
  SharedFileNotCopied: {
    message: '{file} is in a directory that several nodes share, where snapshots are not supported',
    action: 'Copy its data in a pod.',
  },
  CopiedFileMissing: {
    message: '{what}, {file}, is missing',
    action: 'Bring the file back. Stowage creates nothing in its place.',
  },
  CopiedFileDiffers: {
    message: '{what}, {file}, should contain {wanted}, but {found} was found',
    action: 'The file was replaced or damaged, and is not copied. Bring the earlier one back.',
  },
  CopiedFileGrowing: {
    message: '{file} is larger than its content: it is being expanded',
    action: 'It is copied once it is expanded.',
  },
  CopiedFileInUse: {
    message: '{file} cannot be copied while {device} is in use: {uses}',
    action: 'It is copied once nothing uses it.',
    cause: 'DeviceInUse',
  },
  FolderCannotClone: {
    message:
      '{device} is mounted at {mountPoint}, and the file system of {file} cannot clone files: a copy would freeze the volume while it runs',
    action:
      'Allow a frozen copy in the VolumeSnapshotClass, or take the snapshot while no pod has the volume.',
  },
  CopiedFileWritten: {
    message: '{file} was written to while it was being copied',
  },
  CopiedFileReplaced: {
    message: '{file} no longer contains {uuid}',
  },
  CopiedFileModeDiffers: {
    message: '{volume} requests mode {mode}, but {what} has {found}',
    action: 'Create a Volume of the same mode.',
  },
  CopiedFileLarger: {
    message: '{volume} requests {bytes} bytes, but {what} has {found}',
    action: 'Request at least that much.',
  },
  FileUuidDiffers: {
    message: '{file} does not have the UUID {uuid}',
  },
  PartitionGuidDiffers: {
    message: 'the partition in {file} does not have the GUID {guid}',
  },
  PartitionElsewhere: {
    message: 'the partition in {file} begins at another sector',
  },
  SnapshotFileMissing: {
    message: "the snapshot's file {file} is missing",
  },
  SnapshotFileDiffers: {
    message: "the snapshot's file {file} should contain {wanted}, but {found} was found",
  },
} as const satisfies Record<string, ReasonEntry>;
