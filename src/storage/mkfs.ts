import type { FsType } from './types.ts';

/** mkfs.xfs makes none that is smaller (xfsprogs 5.19 and later). Bytes. */
const XFS_MIN = 300n << 20n;

/** Makes a file system whose UUID is the Volume's, over whatever is there: preconditions say whether that may be. */
export function mkfs(
  fs: { type: FsType; options: readonly string[] },
  uid: string,
  path: string,
): string[] {
  switch (fs.type) {
    case 'ext4':
      return ['mkfs.ext4', '-q', '-F', ...fs.options, '-U', uid, path];
    case 'xfs':
      return ['mkfs.xfs', '-q', '-f', ...fs.options, '-m', `uuid=${uid}`, path];
  }
}

/** Why a file system can't be made in that many bytes; undefined when it can. */
export function tooSmall(
  type: FsType,
  sizeBytes: bigint,
): { refusal: string; hint: string } | undefined {
  if (type !== 'xfs' || sizeBytes >= XFS_MIN) return undefined;
  return {
    refusal: `an xfs file system needs ${XFS_MIN} bytes (300Mi) at least, and there are ${sizeBytes}`,
    hint: 'Make the Volume larger, or use a storage class with fsType ext4.',
  };
}
