/** Facts that LVM reports. Sizes are in bytes, and extents are counted. */

export interface VolumeGroup {
  name: string;
  uuid: string;
  /** By vgs(8), Attr. Each of these four flags forbids changes of the group. */
  readOnly: boolean;
  exported: boolean;
  /** A physical volume is missing. */
  partial: boolean;
  /** Other hosts also use the group: clustered, or shared through lvmlockd. */
  shared: boolean;
  extentBytes: bigint;
  freeExtents: bigint;
  /** Paths of the physical volumes that are present. */
  disks: readonly string[];
}

export interface LogicalVolume {
  name: string;
  uuid: string;
  /**
   * First letter of lvs(8), Attr: `-` plain, `V` thin, `t` thin pool, `o` origin of snapshots, …
   */
  kind: string;
  writable: boolean;
  active: boolean;
  /**
   * An interrupted LVM command left it suspended, or without a table: reads block until a resume.
   */
  suspended: boolean;
  open: boolean;
  /**
   * Health letter of lvs(8), Attr: `-` healthy, `p` a physical volume is missing, `D` `M` `F` a
   * full or failed pool, …
   */
  health: string;
  sizeBytes: bigint;
  tags: readonly string[];
  /**
   * For a thin pool: unwritten parts of a new block read as zeros, not as data of an earlier
   * volume.
   */
  zeroes: boolean;
  /** Name of the thin pool, for a thin volume. */
  pool: string | undefined;
  /** Name of the origin, for a snapshot. */
  origin: string | undefined;
  /** Device number (`major:minor`, decimal) of an active volume. */
  device: string | undefined;
  /** Usage (%) of a thin pool or thin volume. */
  dataPercent: number | undefined;
  metadataPercent: number | undefined;
  /** Spreads over several disks, so that growth takes extents of each. */
  striped: boolean;
}

/** Contiguous free extents of a physical volume. */
export interface FreeExtents {
  /** Path of the physical volume. */
  pv: string;
  first: bigint;
  count: bigint;
  /** Offset on the physical volume, in bytes. */
  offsetBytes: bigint;
  sizeBytes: bigint;
}

/** Free extents with their content. */
export interface Extents extends FreeExtents {
  /** Content that a consent must name; '' for none. */
  content: string;
  /** Output of the blkid command that preconditions repeat. */
  blkid: string;
  blkidExit: number;
}
