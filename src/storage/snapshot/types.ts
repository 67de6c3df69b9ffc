import type { Precondition, Step } from '../../nodes/job.ts';
import type {
  DesiredSparse,
  FileFacts,
  Freeze,
  ObservedSparse,
  Signature,
  SourceFacts,
} from '../types.ts';

/** Copy of a volume's file, beside that file. */
export interface DesiredSnapshot {
  /**
   * UID of the content: names the copy, and is the UUID of the copied file system or the GUID of
   * the copied table.
   */
  uid: string;
  /** Volume to copy. For a deletion, only its file matters. */
  volume: DesiredSparse;
  freeze: Freeze;
}

export interface ObservedSnapshot {
  /** Observed volume, with the users of the node's devices. */
  volume: ObservedSparse;
  source: SourceFacts;
  copy: FileFacts;
  /** Signature of the copy; `none` if the copy is missing. */
  signature: Signature;
  partial: FileFacts;
  /** Bytes allocated to the unfinished copy. */
  partialBytes: bigint;
  /** Path of the unfinished copy, without symbolic links. */
  partialPath: string;
  /** A record of a freeze for the copy exists. The copying process removes it at its end. */
  freezeIsLeft: boolean;
}

/** Content of a new file, and the steps that make it. */
export interface Content {
  /** Steps that clean up after an earlier attempt, before its file is removed. */
  left: readonly Step[];
  /** Steps that make the file with its content under the partial name. */
  steps: readonly Step[];
  fsType: string;
  /** Preconditions of the final rename. */
  whole: readonly Precondition[];
}
