import { type Explanation, explain, type Reason } from '../../../api/reasons.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Room } from './capacity-cache.ts';

export type Explained = Explanation & { detail: Reason };

/**
 * Returns why a node lacks space for that many bytes; undefined if it has enough.
 * @param code the reason if there is too little
 * @param format format of a download included in the bytes
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

/** Returns the name of a place for messages. */
export function nameOf(place: StorageLocation): string {
  switch (place.type) {
    case 'sparse':
      return place.directory;
    case 'lvm':
      return `volume group ${place.vgName}${place.thinPool === undefined ? '' : `, thin pool ${place.thinPool}`}`;
  }
}
