import { isDnsSubdomain } from '../../api/dns-name.ts';
import type { Volume } from '../../api/volume.ts';
import { placeOfCopy } from '../../controllers/lib/capacity/room.ts';
import type { StorageLocation } from '../../model/dynamic-class.ts';
import { statusProblem } from '../../model/status-problem.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { SPARSE_DIRECTORY } from '../../storage/loopfile/file.ts';
import { poolPath } from '../../storage/lvm/names.ts';
import { driverOfSpec } from '../../storage/registry.ts';

/** Directory, volume group or thin pool that volumes take space from. */
export type Place = StorageLocation;

export const DEFAULT_PLACE: Place = { type: 'sparse', directory: SPARSE_DIRECTORY };

/** Returns a place's name as in metrics: `/dev/vg0` for a group, `/dev/vg0/pool` for a pool. */
export const placeName = (place: Place): string =>
  place.type === 'lvm' ? poolPath(place) : place.directory;

/**
 * Returns the place of a Volume; undefined for a disk. A status or a spec that Stowage would not
 * work with names no place: nothing of it reaches a node.
 */
export function placeOf(volume: Volume): Place | undefined {
  const { spec } = volume;
  if (statusProblem(volume) !== undefined || !driverOfSpec(spec).hasPlace(spec)) return undefined;
  return isDnsSubdomain(nodeOf(volume)) ? placeOfCopy(volume) : undefined;
}

/** Returns places by name. A directory that any Volume requires to be mounted must be mounted. */
export function placesOf(volumes: readonly Volume[]): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const volume of volumes) {
    const place = placeOf(volume);
    if (place === undefined) continue;
    places.set(placeName(place), { ...places.get(placeName(place)), ...place });
  }
  return places;
}
