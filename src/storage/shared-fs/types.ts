/** Boot of a node, and the attempt to attach that it holds the file for. */
export interface NodeHold {
  node: string;
  /** /proc/sys/kernel/random/boot_id. After a change, all loop devices of this boot are gone. */
  bootId: string;
  token: string;
}

/** Owner that a file in a shared directory is held for. */
export interface LockOwner {
  /** Node that the work runs on. */
  node: string;
  /** Token of this attempt alone: lowercase letters and digits, 64 at most. */
  token: string;
  /**
   * Holders found to be dead (out-of-service taint): exactly their own records may be superseded.
   */
  takeOver?: readonly NodeHold[];
}

/**
 * Numbered owner file beside the backing file. The highest number counts, and no number is reused.
 * `unreadable`: the content is foreign, or of another version of Stowage.
 */
export interface OwnerFile {
  number: number;
  state: { is: 'held' | 'free'; by: NodeHold } | { is: 'unreadable' };
  /** Text as read, without the final newline. */
  text: string;
  /** Time (ISO 8601) by the clock of the file server. */
  since: string | undefined;
}

/** File of a node: its mark as a reader, or an unfinished file. */
export interface NodeFile {
  path: string;
  node: string;
}

/** Reader mark; `by` is undefined if its content cannot be read. */
export interface ReaderMark extends NodeFile {
  by: NodeHold | undefined;
}

/** Mount of a path: a line of /proc/self/mountinfo. */
export interface Mount {
  point: string;
  /** `nfs4` */
  type: string;
  /** `server:/export`, `/dev/sdb1` */
  source: string;
  /** `major:minor` */
  device: string;
  /** Mounted path within the file system: `/`, or the path of a bind mount or a subvolume. */
  root: string;
  /** Nothing can be written through this mount. */
  readOnly: boolean;
  /** Options of the file system: `hard`, `local_lock=none`. */
  options: readonly string[];
}

/** Files beside a file that show which node has it attached. */
export interface Beside {
  /** Sorted by number, the highest last. */
  owners: readonly OwnerFile[];
  marks: readonly ReaderMark[];
  /** Files that did not become owner files or marks. */
  unfinished: readonly NodeFile[];
}

/** Node, mount, and the files that show the users of a file in a shared directory. */
export interface ObservedShared extends Beside {
  bootId: string;
  /** Mount of the directory; undefined if none was found. */
  mount: Mount | undefined;
}
