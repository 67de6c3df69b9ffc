import { UNKNOWN_DATA } from '../blank.ts';
import { notUnderstood, ObservationError } from '../probe-results.ts';
import type { Signature } from '../types.ts';

/** What is seen on a disk or on one of its partitions. */
export interface Printed {
  signature: Signature;
  /** As `blkid -p -o export` printed it. */
  blkid: string;
  blkidExit: number;
  /** As `wipefs -J -n` printed it. */
  wipefs: string;
  /** Of file systems, tables and partitions. */
  uuids: readonly string[];
  /** In its table, for a partition. */
  number: number | undefined;
  /** Whether it reads as zeros at all places that were read; undefined where none was. */
  isBlank: boolean | undefined;
}

/**
 * All that a device carries, in one line, which is what a consent must say: `ext4:UUID`, `ext4:UUID+swap:UUID` where
 * it is ambivalent, `gpt:UUID;1=ext4:UUID;2=none;3=unknown data` for a table and what is in its partitions. '' for nothing.
 * @throws ObservationError where wipefs printed what is not understood
 */
export function contentText(device: Printed, partitions: readonly Printed[]): string {
  const own = signaturesOf(device);
  const parts = partitions
    .map(
      (each) =>
        `${each.number ?? '?'}=${signaturesOf(each) || (each.isBlank === false ? UNKNOWN_DATA : 'none')}`,
    )
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  // The kernel has partitions of a table that is gone: something was here, and may be in use by it.
  return parts.length === 0 ? own : [own || 'no table', ...parts].join(';');
}

function signaturesOf({ signature, wipefs }: Printed): string {
  const seen = new Set<string>();
  if (signature.found === 'one') seen.add(named(signature.type, signature.uuid));
  for (const { type, uuid } of parse(wipefs)) {
    // The table has its UUID from blkid; its copy and the MBR that protects it say nothing more.
    if (type === 'PMBR' || (signature.found === 'one' && type === signature.type)) continue;
    seen.add(named(type, uuid ?? undefined));
  }
  if (signature.found === 'ambivalent' && seen.size === 0) seen.add('ambivalent');
  return [...seen].sort().join('+');
}

const named = (type: string, uuid: string | undefined) => (uuid ? `${type}:${uuid}` : type);

function parse(wipefs: string): { type: string; uuid: string | null }[] {
  try {
    const { signatures = [] } = wipefs.trim() === '' ? {} : JSON.parse(wipefs);
    return signatures;
  } catch (cause) {
    throw new ObservationError(notUnderstood('wipefs', cause), cause);
  }
}

/** Parses what `contentText` returned: the signatures of the device ('') and of each partition, by its number. */
const placesOf = (content: string): { place: string; signatures: string[] }[] =>
  content.split(';').map((text) => {
    const [, place = '', carried = ''] = /^(?:(\d+|\?)=)?(.*)$/s.exec(text) ?? [];
    const signatures = carried
      .split('+')
      .filter((each) => !['', 'none', 'no table'].includes(each));
    return { place, signatures };
  });

/** Its table or file system has a UUID, by which it cannot be taken for another device's. */
export const hasUuid = (content: string): boolean => (content.split(';')[0] ?? '').includes(':');

/** Nothing is there that was not there before: a program that destroys it was interrupted. */
export function isLeftOf(before: string, content: string): boolean {
  const places = placesOf(before);
  const known = places
    .flatMap(({ signatures }) => signatures)
    .filter((each) => each !== UNKNOWN_DATA);
  // Of a GPT that lost its first copy no UUID is read, and its MBR outlives it.
  const table = known.some((each) => each === 'gpt' || each.startsWith('gpt:'));
  // The rest of what lost its signature is data of no known kind; without a table nothing tells which partition it is in.
  const isCarried = (place: string) =>
    places.some((each) => each.place === place && each.signatures.length > 0) ||
    (place === '?' && places.every(({ signatures }) => signatures.length > 0));
  return placesOf(content).every(({ place, signatures }) =>
    signatures.every(
      (signature) =>
        known.includes(signature) ||
        (table && ['gpt', 'PMBR'].includes(signature)) ||
        (signature === UNKNOWN_DATA && isCarried(place)),
    ),
  );
}
