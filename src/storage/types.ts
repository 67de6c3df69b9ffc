import type { Step } from '../nodes/job.ts';

/** A Volume as storage sees it: names, bytes and options that were validated before. */
export interface Desired {
  /** The Volume's UID: name of the file, UUID of the file system. */
  uid: string;
  /** The backing file's absolute path; its last part is the UID. */
  file: string;
  /** The file's size in bytes, a multiple of the block size. */
  sizeBytes: bigint;
  fsType: 'ext4';
  /** Options for mkfs that were checked by `checkMkfsOptions`. */
  mkfsOptions: readonly string[];
  /** The Volume's status records the file as made: then it is ours even if the node forgot. */
  recorded: boolean;
}

/** What is wanted on the node. */
export type Operation = 'prepare' | 'present' | 'absent' | 'destroy';

/** The steps that remain; none when the node is as wanted. Or why nothing may be done. */
export type Plan =
  | { steps: readonly Step[] }
  /** `passing`: it may go on by itself, once a user of the device is gone or udev is back; else a person must act. */
  | { refusal: string; hint: string; passing?: boolean };

/** Something at a path, not following a symbolic link. */
export type FileFacts =
  | { type: 'missing' }
  | { type: 'file'; sizeBytes: bigint; inode: string }
  | { type: 'other' };

/** What `blkid -p` reads: nothing, one thing, or several at once, which counts as something. */
export type Signature =
  | { found: 'none' }
  | { found: 'ambivalent' }
  | { found: 'one'; type: string; uuid?: string };

export interface LoopFacts {
  /** As under /dev: `loop3`. */
  name: string;
  number: number;
  /** `major:minor`, decimal. */
  device: string;
  /** As the kernel shows it, ` (deleted)` at its end included. */
  backingFile: string;
  backingInode: string;
  /** Detaches itself when its last user closes it: neither attached nor detached. */
  autoclear: boolean;
  readOnly: boolean;
  /** Neither an offset nor a limit: the device is the whole file. */
  wholeFile: boolean;
  sizeBytes: bigint;
}

/** All that plans are made from, read in one round trip. */
export interface Observed {
  /** The file's path without symbolic links: what the kernel calls a loop's backing file. */
  realPath: string;
  file: FileFacts;
  partial: FileFacts;
  /** Of the file; `none` when it is missing. */
  signature: Signature;
  intent: Intent | undefined;
  done: boolean;
  /** Any file of the Volume's records is there, half-written ones included. */
  recordFiles: boolean;
  /** Every loop device of the node that has a backing file. */
  loops: readonly LoopFacts[];
  /** Mount points by the device they are of (`major:minor`). */
  mounts: ReadonlyMap<string, readonly string[]>;
  /** The device that the persistent link leads to, `major:minor`; undefined when there is none. */
  link: string | undefined;
  /** udev is there to make the link. */
  udev: boolean;
}

/** Written and synced before the first step that destroys; `done` beside it after the last. */
export interface Intent {
  version: 1;
  uid: string;
  /** The file that is made. */
  file: string;
  sizeBytes: string;
  fsType: string;
  /** What was on the device when it was looked at, and whose consent there is to destroy it. */
  signature: 'none';
  consent: 'none';
}
