import { parseQuantity } from '../api/quantity.ts';
import type { Volume } from '../api/volume.ts';
import type { Desired } from '../storage/types.ts';
import type { ClassOptions } from './storage-class.ts';

/** MetalK8s's folder, so that its sparse files are found where they are. */
const SPARSE_FOLDER = '/var/lib/metalk8s/storage/sparse';

/** File systems are made of blocks; a file is made at least as long as was asked, in whole ones. */
const BLOCK = 4096n;

/** The backing file of a sparse Volume: where it was made, else where it is to be. */
export function fileOf(volume: Volume): string {
  const made = volume.status?.prepared?.paths[0];
  return made ?? `${volume.spec.sparseLoopDevice?.directory ?? SPARSE_FOLDER}/${volume.metadata.uid}`;
}

/** The node that the Volume was made on, else where it is to be. */
export function nodeOf(volume: Volume): string {
  return volume.status?.prepared?.node ?? volume.spec.nodeName;
}

/** What storage is to do for a valid Volume. Without options of a class (it may be gone) nothing can be made. */
export function desiredOf(volume: Volume, options: ClassOptions | undefined): Desired {
  // Only what is to be made has a size; what is to be removed may have lost its class, and its size is as found.
  const bytes = options === undefined ? 0n : parseQuantity(volume.spec.sparseLoopDevice?.size ?? 0);
  return {
    uid: volume.metadata.uid ?? '',
    file: fileOf(volume),
    sizeBytes: ((bytes + BLOCK - 1n) / BLOCK) * BLOCK,
    fsType: options?.fsType ?? 'ext4',
    mkfsOptions: options?.mkfsOptions ?? [],
    recorded: volume.status?.prepared !== undefined,
  };
}
