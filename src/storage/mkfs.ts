import type { FsType } from '../api/file-systems.ts';
import { formatBytes } from '../api/quantity.ts';
import { type Refused, refuse } from '../api/reasons.ts';

/**
 * Minimum sizes (bytes) of file systems: mkfs.xfs refuses a smaller one (xfsprogs 5.19 and later).
 */
const MIN_BYTES: Record<FsType, bigint> = { ext4: 0n, xfs: 300n << 20n };

/**
 * Returns a command that makes a file system with the Volume's UUID over any content. Preconditions
 * decide whether that is permitted.
 */
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

/** Refuses a file system in too few bytes; returns undefined if it fits. */
export function tooSmall(type: FsType, bytes: bigint): Refused | undefined {
  const needed = MIN_BYTES[type];
  return bytes >= needed
    ? undefined
    : refuse('FileSystemTooSmall', { type, needed, size: formatBytes(needed), bytes });
}
