import type { Precondition, Step } from '../../nodes/job.ts';
import type {
  DesiredSparse,
  FileFacts,
  Freeze,
  ObservedSparse,
  Signature,
  SourceFacts,
} from '../types.ts';

/** A copy of a volume's file, beside it. */
export interface DesiredSnapshot {
  /** Of the content: names the copy, and is the UUID of the copied file system, or the GUID of the copied table. */
  uid: string;
  /** The volume that is copied. Where the copy is only to be deleted, its file is all that counts. */
  volume: DesiredSparse;
  freeze: Freeze;
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
  whole: readonly Precondition[];
}
