import { StowageError } from '../../../api/errors.ts';
import type { OnDelete, VolumeMode } from '../../../api/volume.ts';
import type { NodeFlags } from '../../lib/nodes/flags.ts';
import type { CreateFlags, WaitFlags } from '../../lib/objects/flags.ts';

/** Flags of the command that name the storage to adopt. */
export interface AdoptFlags extends Omit<CreateFlags, 'dryRun'>, WaitFlags, NodeFlags {
  dryRun: CreateFlags['dryRun'] | 'plan';
  node?: string;
  device?: string;
  directory?: string;
  file?: string;
  vg?: string;
  lv?: string;
  storageClass?: string;
  mode?: VolumeMode;
  labels?: Record<string, string>;
  onDelete?: OnDelete;
  yes?: boolean;
}

export type StorageType = 'raw' | 'sparse' | 'lvm';

const ABOUT = { raw: ['device'], sparse: ['directory', 'file'], lvm: ['vg', 'lv'] } as const;

/**
 * Returns the type that flags are about; undefined without such flags. Throws a StowageError
 * `usage` for flags about several types.
 */
export function typeOf(flags: AdoptFlags): StorageType | undefined {
  const given = (Object.keys(ABOUT) as StorageType[]).filter((type) =>
    ABOUT[type].some((flag) => flags[flag] !== undefined),
  );
  if (given.length > 1) {
    throw new StowageError(
      'usage',
      'A Volume adopts one kind of storage, but flags for several are given',
      {
        hint: 'For a disk or partition, set --device; for a file, --file (optionally --directory); for a logical volume, --vg and --lv.',
      },
    );
  }
  return given[0];
}
