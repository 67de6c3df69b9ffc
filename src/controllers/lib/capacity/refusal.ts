import { type Explanation, explain, type Reason } from '../../../api/reasons.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Room } from './capacity-cache.ts';

export type Explained = Explanation & { detail: Reason };

/**
 * Returns why there is no room for so many bytes on a node; undefined where there is.
 * @param code the reason where there is too little
 * @param format of a download that is counted in
 */
export function whyNoRoom(
  node: string,
  place: StorageLocation,
  room: Room,
  wanted: bigint,
  code: 'NoRoom' | 'NoRoomToGrow' | 'NoRoomForCopy',
  format?: string,
): Explained | undefined {
  if ('unknown' in room) return roomUnknown(node, room.unknown);
  if ('refused' in room) return followed(explain('NodeDirectoryUnusable', { node }), room.refused);
  if (room.freeBytes >= wanted) return undefined;
  const free = room.freeBytes < 0n ? 0n : room.freeBytes;
  return explain(code, { node, free, place: nameOf(place), wanted, format });
}

export const roomUnknown = (node: string, why: string): Explained =>
  followed(explain('RoomUnknown', { node }), why);

const followed = (explained: Explained, why: string): Explained => ({
  ...explained,
  message: `${explained.message}: ${why}`,
});

/** Names a place in messages. */
export const nameOf = (place: StorageLocation): string =>
  place.type === 'sparse'
    ? place.directory
    : `volume group ${place.vgName}${place.thinPool === undefined ? '' : `, thin pool ${place.thinPool}`}`;
