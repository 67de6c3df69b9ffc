/**
 * File systems of volumes. Tables over these types must have all rows to compile. The scripts in
 * storage/scripts name the types, too (docs/extending.md).
 */
export const FS_TYPES = ['ext4', 'xfs'] as const;
export type FsType = (typeof FS_TYPES)[number];

/** Default of the kubelet for a class that names none. */
export const DEFAULT_FS_TYPE: FsType = 'ext4';

export const isFsType = (text: string | undefined): text is FsType =>
  FS_TYPES.some((type) => type === text);
