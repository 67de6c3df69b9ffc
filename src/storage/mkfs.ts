import type { FsType } from '../api/file-systems.ts';
import { formatBytes } from '../api/quantity.ts';
import { type Refused, refuse } from '../api/reasons.ts';

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
export function tooSmall(type: FsType, bytes: bigint): Refused | undefined {
  const needed = MIN_BYTES[type];
  return bytes >= needed
    ? undefined
    : refuse('FileSystemTooSmall', { type, needed, size: formatBytes(needed), bytes });
}
