import type { ReasonEntry } from './types.ts';

/** Directories with the backing files of volumes. */
export const DIRECTORIES = {
  DirectoryNotMounted: {
    message:
      'the file system of {directory} is not mounted: its volumes are in {recorded}, but the directory leads to {found}, mounted at {mountPoint}[, whose {unread} cannot be read]',
    action:
      'Mount it on the node. Only if the directory moves to another file system permanently, remove the record on the node: rm {record}',
    shows: 'DirectoryNotMounted',
    cause: 'DirectoryNotMounted',
  },
  MountRequired: {
    message: '{directory} is on the root file system, and requireMount is set',
    action: 'Mount a file system at the directory or above it.',
    shows: 'DirectoryNotMounted',
    cause: 'DirectoryNotMounted',
  },
  SystemDirectory: {
    message: '{directory} [({realPath}) ]is in {found}, which must not contain volumes',
    action:
      'Use a directory for data, such as one below /var/lib/stowage or /srv, or a mount point of its own.',
  },
  AnotherFileSystemRecorded: {
    message: 'another file system was recorded for {directory} meanwhile',
  },
  DirectoryMoved: {
    message: '{directory} is no longer on the file system that it was observed on',
  },
} as const satisfies Record<string, ReasonEntry>;
