import type { VolumeRow } from './protocol.ts';

/** Columns by which Volumes are sorted. */
export type Column = 'name' | 'node' | 'type' | 'size' | 'phase' | 'ready' | 'claim' | 'age';

export interface Sorting {
  by: Column;
  descending: boolean;
}

export interface Filter {
  /** Text in the name, node, claim or reason; upper and lower case are the same. */
  text: string;
  /** '': all. */
  phase: string;
  node: string;
}

/** Returns the sort key of a time (RFC 3339) that is shown as an age: the youngest is first. */
export const youngestFirst = (time: string): number => -Date.parse(time) || 0;

const KEYS: Readonly<Record<Column, (row: VolumeRow) => string | number>> = {
  name: ({ name }) => name,
  node: ({ node }) => node,
  type: ({ type }) => type,
  size: ({ bytes }) => bytes,
  phase: ({ phase }) => phase,
  ready: ({ ready }) => ready,
  claim: ({ claim }) => claim,
  age: ({ created }) => youngestFirst(created),
};

/** Returns the Volumes that match a filter, in order. */
export function chosen(
  rows: Iterable<VolumeRow>,
  { text, phase, node }: Filter,
  { by, descending }: Sorting,
): VolumeRow[] {
  const those = [...rows].filter(
    (row) => (phase === '' || row.phase === phase) && (node === '' || row.node === node),
  );
  return arranged(those, text, textsOf, KEYS[by], descending);
}

const textsOf = ({ name, node, claim, reason }: VolumeRow) => [name, node, claim, reason];

/**
 * Returns the rows that have a text, in order of their keys. Rows with equal keys are in order of
 * names.
 * @param text upper and lower case are the same; '' matches all
 * @param texts returns the texts of a row that are searched
 */
export function arranged<T extends { name: string }>(
  rows: Iterable<T>,
  text: string,
  texts: (row: T) => readonly string[],
  key: (row: T) => string | number,
  descending: boolean,
): T[] {
  const wanted = text.trim().toLowerCase();
  const found: { row: T; key: string | number }[] = [];
  for (const row of rows) {
    if (wanted !== '' && !texts(row).some((each) => each.toLowerCase().includes(wanted))) continue;
    found.push({ row, key: key(row) });
  }
  const sign = descending ? -1 : 1;
  found.sort((a, b) => sign * compare(a.key, b.key) || compare(a.row.name, b.row.name));
  return found.map(({ row }) => row);
}

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Rows to draw, of those of a long table: `from` is the first, `to` the one after the last. */
export interface Part {
  from: number;
  to: number;
}

/**
 * Returns the rows to draw. Sizes are in pixels.
 * @param above height of the rows that are scrolled out at the top; negative before the table
 * @param height visible height
 * @param extra rows drawn beyond each edge, so that the Tab key finds the next one
 */
export function visiblePart(
  count: number,
  rowHeight: number,
  above: number,
  height: number,
  extra: number,
): Part {
  const first = Math.floor(Math.max(0, above) / rowHeight);
  const last = Math.ceil(Math.max(0, above + height) / rowHeight);
  const from = Math.max(0, Math.min(first, count) - extra);
  return { from, to: Math.max(from, Math.min(count, last + extra)) };
}
