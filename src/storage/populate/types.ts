import type { FsType } from '../../api/file-systems.ts';

/** Content that a volume starts with, and the built-in that populates it on the node. */
export interface Fill {
  builtin: 'Image' | 'Archive' | 'Backup';
  /** Object that the content is from, for messages: `Image prod/debian`. */
  what: string;
  /** Options of the built-in, without spaces. */
  options: Readonly<Record<string, string>>;
  /**
   * Namespace of the claim, for its share of the node's slots; undefined for a Volume of an
   * administrator.
   */
  namespace?: string | undefined;
  /** Value of the header Authorization. It is in no command and no log. */
  authorization?: string | undefined;
}

/** Storage to populate. */
export interface FillTarget {
  /** Path of the new file or the device, without spaces. */
  path: string;
  uid: string;
  /**
   * Type of the file system that gets files; `block` for none: the target gets the content itself.
   */
  content: FsType | 'block';
  /** Offset (bytes) at which the volume begins in the target. */
  offsetBytes: bigint;
  sizeBytes: bigint;
  /** True if what was not written reads as zero. */
  isZero: boolean;
}
