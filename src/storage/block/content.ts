import { UNKNOWN_DATA } from '../blank.ts';
import { notUnderstood, ObservationError } from '../probe-results.ts';
import type { Signature } from '../types.ts';

/** Content of a disk or of one of its partitions. */
export interface Printed {
  signature: Signature;
  /** Output of `blkid -p -o export`. */
  blkid: string;
  blkidExit: number;
  /** Output of `wipefs -J -n`. */
  wipefs: string;
  /** UUIDs of file systems, tables and partitions. */
  uuids: readonly string[];
  /** For a partition: its number in the table. */
  number: number | undefined;
  /** True if all places read are zeros; undefined if none was read. */
  isBlank: boolean | undefined;
}

/**
 * Returns all that a device carries, on one line, as a consent must state it. Examples:
 * `ext4:UUID`; `ext4:UUID+swap:UUID` if it is ambivalent; `gpt:UUID;1=ext4:UUID;2=none;3=unknown
 * data` for a table and the content of its partitions; '' for nothing.
 * @throws ObservationError if the output of wipefs cannot be parsed
 */
export function contentText(device: Printed, partitions: readonly Printed[]): string {
  const own = signaturesOf(device);
  const parts = partitions
    .map(
      (each) =>
        `${each.number ?? '?'}=${signaturesOf(each) || (each.isBlank === false ? UNKNOWN_DATA : 'none')}`,
    )
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  // The kernel has partitions of a table that is gone: data was here, and may be in use.
  return parts.length === 0 ? own : [own || 'no table', ...parts].join(';');
}

function signaturesOf({ signature, wipefs }: Printed): string {
  const seen = new Set<string>();
  if (signature.found === 'one') seen.add(named(signature.type, signature.uuid));
  for (const { type, uuid } of parse(wipefs)) {
    // blkid gives the table's UUID; its backup and the protective MBR add nothing.
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

/**
 * Parses the result of `contentText`: the signatures of the device ('') and of each partition, by
 * number.
 */
const placesOf = (content: string): { place: string; signatures: string[] }[] =>
  content.split(';').map((text) => {
    const [, place = '', carried = ''] = /^(?:(\d+|\?)=)?(.*)$/s.exec(text) ?? [];
    const signatures = carried
      .split('+')
      .filter((each) => !['', 'none', 'no table'].includes(each));
    return { place, signatures };
  });

/**
 * Reports whether the table or file system has a UUID, so that nothing takes it for another
 * device's.
 */
export const hasUuid = (content: string): boolean => (content.split(';')[0] ?? '').includes(':');

/** Reports whether all content was there before: a program that destroys it was interrupted. */
export function isLeftOf(before: string, content: string): boolean {
  const places = placesOf(before);
  const known = places
    .flatMap(({ signatures }) => signatures)
    .filter((each) => each !== UNKNOWN_DATA);
  // blkid reads no UUID of a GPT that lost its first copy, and the MBR outlives that copy.
  const table = known.some((each) => each === 'gpt' || each.startsWith('gpt:'));
  // Content that lost its signature is unknown data; without a table nothing shows its partition.
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
