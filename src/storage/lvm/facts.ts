/** What LVM says of itself. Sizes are in bytes, and extents are counted. */

export interface VolumeGroup {
  name: string;
  uuid: string;
  /** vgs(8), Attr: what makes it one that nothing is done with. */
  readOnly: boolean;
  exported: boolean;
  /** A physical volume is away. */
  partial: boolean;
  /** Other hosts use it too: clustered, or shared by lvmlockd. */
  shared: boolean;
  extentBytes: bigint;
  freeExtents: bigint;
  /** The paths of its physical volumes that are there. */
  disks: readonly string[];
}

export interface LogicalVolume {
  name: string;
  uuid: string;
  /** lvs(8), Attr, the first letter: `-` plain, `V` thin, `t` a thin pool, `o` one that has snapshots, … */
  kind: string;
  writable: boolean;
  active: boolean;
  /** An interrupted command of LVM left it so, or its device empty: whoever reads it waits until it is resumed. */
  suspended: boolean;
  open: boolean;
  /** lvs(8), Attr, the health: `-` well, `p` a physical volume is away, `D` `M` `F` a pool that is full or broken, … */
  health: string;
  sizeBytes: bigint;
  tags: readonly string[];
  /** Of a thin pool: what is not written of a block that is begun reads as zeros, too, and not as what an earlier volume left. */
  zeroes: boolean;
  /** The thin pool that it is of. */
  pool: string | undefined;
  /** The one that it is a snapshot of. */
  origin: string | undefined;
  /** `major:minor`, decimal, while it is active. */
  device: string | undefined;
  /** How much of it is in use, of a thin pool and a thin volume, in percent. */
  dataPercent: number | undefined;
  metadataPercent: number | undefined;
  /** Over several disks at once, so that it takes extents of each when it grows. */
  striped: boolean;
}

/** Free extents of a physical volume that follow one another. */
export interface FreeExtents {
  /** The physical volume's path. */
  pv: string;
  first: bigint;
  count: bigint;
  /** Where they are on it, in bytes. */
  offsetBytes: bigint;
  sizeBytes: bigint;
}

/** The same, looked into. */
export interface Extents extends FreeExtents {
  /** What a consent must say of it; '' for nothing. */
  content: string;
  /** What the command that is repeated as a precondition printed. */
  blkid: string;
  blkidExit: number;
}
