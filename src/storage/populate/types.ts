import type { FsType } from '../../api/file-systems.ts';
/** What a volume begins with, and what puts it there, on the node. */
export interface Fill {
  builtin: 'Image' | 'Archive' | 'Backup';
  /** The object that it is from, for people: `Image prod/debian`. */
  what: string;
  /** Words without spaces, as the built-in has them. */
  options: Readonly<Record<string, string>>;
  /** Namespace of the claim, for its share of the node's places; undefined for a Volume that an administrator made. */
  namespace?: string | undefined;
  /** What is sent as the header Authorization. It is in no command and no log. */
  authorization?: string | undefined;
}

/** Where it is put. */
export interface FillTarget {
  /** The file that is being made, or the device: no space is in it. */
  path: string;
  /** The Volume's. */
  uid: string;
  /** The file system that is in it, which gets files; or none, and it gets the content itself. */
  content: FsType | 'block';
  /** Where the volume begins in it, in bytes. */
  offsetBytes: bigint;
  /** How large the volume is. */
  sizeBytes: bigint;
  /** What was not written reads as zero. */
  isZero: boolean;
}
