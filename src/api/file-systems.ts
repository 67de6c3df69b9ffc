/**
 * File systems that volumes are made with. Tables over these tell what is done with each: one that lacks a row does not compile. The
 * scripts of storage/scripts name them, too (docs/extending.md).
 */
export const FS_TYPES = ['ext4', 'xfs'] as const;
export type FsType = (typeof FS_TYPES)[number];

/** The kubelet's, for a class that names none. */
export const DEFAULT_FS_TYPE: FsType = 'ext4';

export const isFsType = (text: string | undefined): text is FsType =>
  FS_TYPES.some((type) => type === text);
