import type { FsType } from '../api/file-systems.ts';
import { EXT4_OPTIONS } from './ext4-options.ts';
import { checkOptions } from './option-table.ts';
import { XFS_OPTIONS } from './xfs-options.ts';

const OPTIONS: Record<FsType, typeof EXT4_OPTIONS> = { ext4: EXT4_OPTIONS, xfs: XFS_OPTIONS };

/** Checks the mkfs options of a storage class. Returns them parsed, or the problem. */
export function checkMkfsOptions(
  type: FsType,
  options: unknown,
): { options: string[] } | { problem: string } {
  return checkOptions(OPTIONS[type], options);
}
