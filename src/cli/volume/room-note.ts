import { roundedSize } from '../../api/rounded-size.ts';
import type { Volume } from '../../api/volume.ts';
import { observePlace } from '../../controllers/lib/capacity/observe-place.ts';
import {
  fileDirectories,
  isOverpromised,
  type Promised,
  promisedInDirectory,
  promisedInPool,
} from '../../controllers/lib/capacity/promised.ts';
import { placeOfCopy } from '../../controllers/lib/capacity/room.ts';
import type { StorageLocation } from '../../model/dynamic-class.ts';
import { eligibleNodes } from '../../model/volume-nodes.ts';
import type { Executor } from '../../nodes/job.ts';
import type { Io } from '../lib/io.ts';
import { printable } from '../lib/output/printable.ts';

/** Maximum number of notes shown. */
const SHOWN = 10;

/** A place that can be promised beyond its space: a directory, or a thin pool. */
type SharedPlace =
  | Extract<StorageLocation, { type: 'sparse' }>
  | (Extract<StorageLocation, { type: 'lvm' }> & { thinPool: string });

/**
 * Returns the note about a place whose volumes can run out of space; undefined for any other. Pure.
 */
export function roomNote(node: string, place: SharedPlace, promised: Promised): string | undefined {
  if (!isOverpromised(promised)) return undefined;
  const [wanted, there] = sizes(promised);
  return place.type === 'sparse'
    ? `Volumes may take ${wanted} more on the file system of ${place.directory} on node ${node}, which has ${there} free`
    : `the volumes of the thin pool ${place.vgName}/${place.thinPool} on node ${node} have a total size of ${wanted}, and the pool has ${there}`;
}

/** Returns both sizes for people; exact ones if rounding hides the difference. */
function sizes({ promisedBytes, existingBytes }: Promised): [string, string] {
  const all = [promisedBytes, existingBytes] as const;
  const [wanted, there] = all.map((bytes) => roundedSize(Number(bytes)));
  return wanted === there
    ? [`${promisedBytes} bytes`, `${existingBytes} bytes`]
    : [wanted ?? '', there ?? ''];
}

/**
 * Observes the places of new Volumes, and returns the notes about them; none about a place that
 * cannot be observed, because a note is no reason to fail.
 * @param known all Volumes of the cluster
 */
export async function findRoomNotes(
  created: readonly Volume[],
  known: readonly Volume[],
  executor: Pick<Executor, 'observe'>,
): Promise<string[]> {
  // A plan is also made for a name that exists.
  const all = [
    ...new Map([...known, ...created].map((volume) => [volume.metadata.name, volume])).values(),
  ];
  const notes = await Promise.allSettled(
    placesOf(created).map(async ({ node, place }) => {
      const there = all.filter((volume) => eligibleNodes(volume).includes(node));
      const facts = await observePlace(
        (probes) => executor.observe(node, probes),
        place,
        fileDirectories(there),
      );
      const promised =
        'directory' in facts
          ? promisedInDirectory(facts.directory, there)
          : 'group' in facts && place.type === 'lvm'
            ? promisedInPool(facts.group, place, there)
            : undefined;
      return promised && roomNote(node, place, promised);
    }),
  );
  return notes.flatMap((each) => (each.status === 'fulfilled' ? (each.value ?? []) : []));
}

/** Returns the shared places of new Volumes, each once. Adopted storage has its space already. */
export function placesOf(created: readonly Volume[]): { node: string; place: SharedPlace }[] {
  const places = created.flatMap((volume) => {
    const place = volume.spec.adopt == null ? placeOfCopy(volume) : undefined;
    return place !== undefined && isShared(place) ? [{ node: volume.spec.nodeName, place }] : [];
  });
  return [...new Map(places.map((each) => [JSON.stringify(each), each])).values()];
}

const isShared = (place: StorageLocation): place is SharedPlace =>
  place.type === 'sparse' || place.thinPool !== undefined;

/** Prints notes on standard error. */
export function printNotes(notes: readonly string[], { stderr }: Pick<Io, 'stderr'>): void {
  const more = notes.length > SHOWN ? [`… and ${notes.length - SHOWN} more of these notes`] : [];
  for (const note of [...notes.slice(0, SHOWN), ...more]) {
    stderr.write(`${printable(`note: ${note}`)}\n`);
  }
}
