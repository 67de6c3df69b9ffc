/** A place in a file system. It lasts over reboots, which numbers of devices do not. */
export interface FileSystemPlace {
  /** Absent where none is known: NFS, overlay and tmpfs have none. */
  uuid?: string;
  /** As the kernel lists them: `ext4` and `/dev/sdb1`, `nfs4` and `server:/export`. */
  type: string;
  source: string;
  /** The path within that file system: a bind mount or a subvolume has the UUID of the file system that it is a part of. */
  path: string;
}

/** Which file system a directory of volumes is on. */
export interface ObservedDirectory {
  /** As Volumes name it. */
  directory: string;
  /** Its path without symbolic links. */
  realPath: string;
  now: FileSystemPlace;
  /** By the node's record; undefined where no volume was made there yet. */
  recorded: FileSystemPlace | undefined;
  /** `major:minor` of its mount. */
  device: string;
  mountPoint: string;
  /** Whether the directory is on the file system that is mounted at /. */
  isRoot: boolean;
}
