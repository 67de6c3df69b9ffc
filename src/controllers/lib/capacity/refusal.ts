import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Room } from './capacity-cache.ts';

/**
 * Returns why there is no room for so many bytes on a node; undefined where there is.
 * @param are what the bytes are, at the end of the sentence: `are needed`
 */
export function whyNoRoom(
  node: string,
  place: StorageLocation,
  room: Room,
  wanted: bigint,
  are: string,
): string | undefined {
  if ('unknown' in room)
    return `how much room there is on node ${node} is not known: ${room.unknown}`;
  if ('refused' in room) return `node ${node} has no room now: ${room.refused}`;
  if (room.freeBytes >= wanted) return undefined;
  const bytes = room.freeBytes < 0n ? 0n : room.freeBytes;
  return `node ${node} has room for ${bytes} bytes in ${nameOf(place)}, and ${wanted} ${are}`;
}

/** Names a place in messages. */
export const nameOf = (place: StorageLocation): string =>
  place.type === 'sparse'
    ? place.directory
    : `volume group ${place.vgName}${place.thinPool === undefined ? '' : `, thin pool ${place.thinPool}`}`;
