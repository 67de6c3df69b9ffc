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

const KEYS: Readonly<Record<Column, (row: VolumeRow) => string | number>> = {
  name: ({ name }) => name,
  node: ({ node }) => node,
  type: ({ type }) => type,
  size: ({ bytes }) => bytes,
  phase: ({ phase }) => phase,
  ready: ({ ready }) => ready,
  claim: ({ claim }) => claim,
  // The youngest first, as an age grows.
  age: ({ created }) => -Date.parse(created) || 0,
};

/** Returns the rows that match a filter, in order. Rows with equal keys are in order of names. */
export function chosen(
  rows: Iterable<VolumeRow>,
  { text, phase, node }: Filter,
  { by, descending }: Sorting,
): VolumeRow[] {
  const wanted = text.trim().toLowerCase();
  const found: { row: VolumeRow; key: string | number }[] = [];
  const key = KEYS[by];
  for (const row of rows) {
    if (phase !== '' && row.phase !== phase) continue;
    if (node !== '' && row.node !== node) continue;
    if (wanted !== '' && !hasText(row, wanted)) continue;
    found.push({ row, key: key(row) });
  }
  const sign = descending ? -1 : 1;
  found.sort((a, b) => sign * compare(a.key, b.key) || compare(a.row.name, b.row.name));
  return found.map(({ row }) => row);
}

const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

const hasText = ({ name, node, claim, reason }: VolumeRow, wanted: string): boolean =>
  [name, node, claim, reason].some((each) => each.toLowerCase().includes(wanted));

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
