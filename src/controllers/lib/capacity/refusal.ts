import { formatBytes } from '../../../api/quantity.ts';
import { type Explanation, explain, type Reason } from '../../../api/reasons.ts';
import { roundedSize } from '../../../api/rounded-size.ts';
import type { StorageLocation } from '../../../model/dynamic-class.ts';
import type { Room } from './capacity-cache.ts';

export type Explained = Explanation & { detail: Reason };

/**
 * Returns why a node lacks space for that many bytes; undefined if it has enough.
 * @param place name of the place
 * @param code the reason if there is too little
 * @param format format of a download included in the bytes
 */
export function whyNoRoom(
  node: string,
  place: string,
  room: Room,
  wanted: bigint,
  code: 'NoRoom' | 'NoRoomToGrow' | 'NoRoomForCopy',
  format?: string,
): Explained | undefined {
  if ('unknown' in room) return roomUnknown(node, room.unknown);
  if ('refused' in room) return followed(explain('NodeDirectoryUnusable', { node }), room.refused);
  if (room.freeBytes >= wanted) return undefined;
  const free = room.freeBytes < 0n ? 0n : room.freeBytes;
  const [has, needs] = sizesOf(free, wanted);
  return explain(code, { node, free: has, place, wanted: needs, format });
}

/** Returns two sizes for a sentence that compares them: rounded, unless they would look equal. */
function sizesOf(free: bigint, wanted: bigint): [free: string, wanted: string] {
  const rounded = (bytes: bigint) => inBytes(roundedSize(Number(bytes)));
  return rounded(free) === rounded(wanted)
    ? [inBytes(formatBytes(free)), inBytes(formatBytes(wanted))]
    : [rounded(free), rounded(wanted)];
}

const inBytes = (size: string): string => (/^\d+$/.test(size) ? `${size} bytes` : size);

export const roomUnknown = (node: string, why: string): Explained =>
  followed(explain('RoomUnknown', { node }), why);

const followed = (explained: Explained, why: string): Explained => ({
  ...explained,
  message: `${explained.message}: ${why}`,
});

/** Returns the name of a class's place for messages to tenants: paths of nodes are not for them. */
export const publicNameOf = (place: StorageLocation): string =>
  place.type === 'sparse' ? 'the directory of its storage class' : nameOf(place);

/** Returns the name of a place for messages. */
export function nameOf(place: StorageLocation): string {
  switch (place.type) {
    case 'sparse':
      return place.directory;
    case 'lvm':
      return `volume group ${place.vgName}${place.thinPool === undefined ? '' : `, thin pool ${place.thinPool}`}`;
  }
}
