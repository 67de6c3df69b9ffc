import type { Volume } from '../../../api/volume.ts';
import { sizeOf } from '../../../storage/registry.ts';
import type { MeasuredPlace } from '../measure-place.ts';

/** Row as docs/output.md describes it: a place on a node. Unknown figures are absent. */
export interface PlaceRow {
  node: string;
  /** Directory; or the volume group or thin pool, as named under /dev. */
  storage: string;
  sizeBytes?: number;
  usedBytes?: number;
  freeBytes?: number;
  /** Bytes that the Volumes occupy, as far as each one is known. */
  onDiskBytes?: number;
  volumes: number;
  /** Total size of the Volumes. */
  promisedBytes: number;
}

/** Returns the row of a place. `volumes`: those in the place. Pure. */
export function placeRow(
  node: string,
  storage: string,
  volumes: readonly Volume[],
  observed: MeasuredPlace | undefined,
): PlaceRow {
  const promised = volumes.reduce((all, { spec }) => all + sizeOf(spec), 0n);
  const known = { node, storage, volumes: volumes.length, promisedBytes: Number(promised) };
  if (observed === undefined || 'why' in observed) return known;
  const { sizeBytes, usedBytes, freeBytes } = observed;
  const made = volumes.filter(({ status }) => status?.prepared !== undefined);
  const onDisk = made.map((volume) => observed.onDiskOf(volume));
  return {
    ...known,
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(usedBytes !== undefined && { usedBytes }),
    ...(freeBytes !== undefined && { freeBytes }),
    // A sum without some of the Volumes would be too small.
    ...(onDisk.every((bytes) => bytes !== undefined) && {
      onDiskBytes: onDisk.reduce((all, bytes) => all + bytes, 0),
    }),
  };
}
