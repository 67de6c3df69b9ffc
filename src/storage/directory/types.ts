/** Place in a file system. A reboot does not change it, unlike device numbers. */
export interface FileSystemPlace {
  /** Absent if none is known: NFS, overlay and tmpfs have none. */
  uuid?: string;
  /**
   * Type and source as the kernel lists them: `ext4` and `/dev/sdb1`, `nfs4` and `server:/export`.
   */
  type: string;
  source: string;
  /**
   * Path within that file system: a bind mount or a subvolume has the UUID of its whole file
   * system.
   */
  path: string;
}

/** File system of a directory for volumes. */
export interface ObservedDirectory {
  /** Path as Volumes name it. */
  directory: string;
  /** Path without symbolic links. */
  realPath: string;
  now: FileSystemPlace;
  /** Place on record; undefined if no volume was made there yet. */
  recorded: FileSystemPlace | undefined;
  /** Device of its mount (`major:minor`). */
  device: string;
  mountPoint: string;
  /** True if the directory is on the file system that is mounted at /. */
  isRoot: boolean;
}
