import { EXT4_OPTIONS } from './ext4-options.ts';
import { checkOptions } from './option-table.ts';
import type { FsType } from './types.ts';
import { XFS_OPTIONS } from './xfs-options.ts';

/** Options for mkfs as a storage class gives them, checked, or what is wrong with them. */
export function checkMkfsOptions(
  type: FsType,
  options: unknown,
): { options: string[] } | { problem: string } {
  return checkOptions(type === 'ext4' ? EXT4_OPTIONS : XFS_OPTIONS, options);
}
