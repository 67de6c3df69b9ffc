import type { Guard, Step } from '../../nodes/job.ts';
import type { DesiredSparse, FileFacts, ObservedSparse, Signature } from '../types.ts';

/** What may be done to a mounted file system for a copy of it. */
export interface Freeze {
  /** For how long it may be frozen at most. A clone takes 10 s at most, whatever this says. */
  seconds: number;
  /** Also for a copy of its data, where its folder can't clone files. */
  copy: boolean;
}

/** A copy of a volume's file, beside it. */
export interface DesiredSnapshot {
  /** Of the content: names the copy, and is the UUID of the copied file system, or the GUID of the copied table. */
  uid: string;
  /** The volume that is copied. Where the copy is only to be deleted, its file is all that counts. */
  volume: DesiredSparse;
  freeze: Freeze;
}

/** A file that is copied. */
export interface SourceFacts {
  /** Without symbolic links. */
  realPath: string;
  file: FileFacts;
  /** Of the file; `none` when it is missing. */
  signature: Signature;
  /** For how many bytes a volume that is copied is made, by its record; undefined where none says so. */
  madeBytes?: bigint | undefined;
  /** What `stateOf` printed; undefined when it is missing. */
  state: string | undefined;
  /** The file system that the copy is made on is not of a kind that is known to clone no files. */
  mayClone: boolean;
}

export interface ObservedSnapshot {
  /** The volume, and who uses what on the node. */
  volume: ObservedSparse;
  source: SourceFacts;
  copy: FileFacts;
  /** Of the copy; `none` when it is missing. */
  signature: Signature;
  partial: FileFacts;
  /** Allocated to the unfinished copy. */
  partialBytes: bigint;
  /** Of the unfinished copy, without symbolic links. */
  partialPath: string;
  /** There is a record of a freeze for it, which whoever made the copy takes away at its end. */
  freezeIsLeft: boolean;
}

/** What is to be in the file, and how it comes there. */
export interface Content {
  /** Of an earlier try, to be done before its file goes. */
  left: readonly Step[];
  /** They make the file under the other name, with its content. */
  steps: readonly Step[];
  fsType: string;
  /** Under which it may get its name. */
  whole: readonly Guard[];
}
