/** A start of a node, and the attempt to attach that it was made for. */
export interface NodeHold {
  node: string;
  /** /proc/sys/kernel/random/boot_id: another one means that every loop device of before is gone. */
  bootId: string;
  token: string;
}

/** For whom a file on a shared directory is held. */
export interface LockOwner {
  /** The node that the work runs on. */
  node: string;
  /** Of this attempt alone: small letters and digits, 64 at most. */
  token: string;
  /** Those that were found to be dead (the out-of-service taint): exactly what they wrote may be superseded. */
  takeOver?: readonly NodeHold[];
}

/**
 * One of the numbered owner files beside the backing file. The highest number counts; a number is never given twice.
 * `unreadable`: something else is there, or another version of Stowage wrote it.
 */
export interface OwnerFile {
  number: number;
  says: { is: 'held' | 'free'; by: NodeHold } | { is: 'unreadable' };
  /** As it was read, without the newline at its end. */
  text: string;
  /** ISO 8601, by the clock of the file server. */
  since: string | undefined;
}

/** A node's mark that it reads the file, or that it was about to write one of these files. */
export interface NodeFile {
  path: string;
  node: string;
}

/** A mark; `by` is undefined where what is in it can't be read. */
export interface ReaderMark extends NodeFile {
  by: NodeHold | undefined;
}

/** What a path is on: a line of /proc/self/mountinfo. */
export interface Mount {
  point: string;
  /** `nfs4` */
  type: string;
  /** `server:/export`, `/dev/sdb1` */
  source: string;
  /** `major:minor` */
  device: string;
  /** The path within the file system that is mounted there: `/`, or that of a bind mount or a subvolume. */
  root: string;
  /** Nothing can be written through this mount. */
  readOnly: boolean;
  /** Those of the file system: `hard`, `local_lock=none`. */
  options: readonly string[];
}

/** Files beside a file that tell which node has it attached. */
export interface Beside {
  /** By their numbers, the highest last. */
  owners: readonly OwnerFile[];
  marks: readonly ReaderMark[];
  /** Files that were to become one of the others. */
  unfinished: readonly NodeFile[];
}

/** The node, the mount, and the files that tell who uses a file on a shared directory. */
export interface ObservedShared extends Beside {
  bootId: string;
  /** The mount of the directory; undefined where none was found. */
  mount: Mount | undefined;
}
