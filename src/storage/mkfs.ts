import type { FsType } from '../api/file-systems.ts';
import { formatBytes } from '../api/quantity.ts';

/** The least that a file system is made in, in bytes: mkfs.xfs makes none that is smaller (xfsprogs 5.19 and later). */
const MIN_BYTES: Record<FsType, bigint> = { ext4: 0n, xfs: 300n << 20n };

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
  const min = MIN_BYTES[type];
  if (sizeBytes >= min) return undefined;
  return {
    refusal: `an ${type} file system needs ${min} bytes (${formatBytes(min)}) at least, and there are ${sizeBytes}`,
    hint: 'Make the Volume larger, or use a storage class with fsType ext4.',
  };
}
