import { roundedSize } from '../output/size.ts';
import type { Row } from '../output/table.ts';
import type { NodeRow } from './row.ts';

type Column = [heading: string, value: (row: NodeRow) => string | undefined];

const yes = (is: boolean) => (is ? 'yes' : 'no');

const COLUMNS: readonly Column[] = [
  ['NAME', ({ name }) => name],
  ['TRANSPORT', ({ transport }) => transport],
  ['REACHABLE', ({ reachable }) => yes(reachable)],
  ['FREE', ({ free }) => free && roundedSize(free.bytes)],
  ['VOLUMES', ({ volumes }) => String(volumes.total)],
  ['FAILED', ({ volumes }) => String(volumes.failed)],
  ['PAUSED', ({ paused }) => yes(paused)],
];

const WIDE: readonly Column[] = [
  ['ADDRESS', ({ address }) => address],
  ['DIRECTORY', ({ free }) => free?.directory],
  ['MESSAGE', ({ message }) => message],
];

/** Headings, and the cells of each node. */
export function nodeTable(
  rows: readonly NodeRow[],
  wide: boolean,
): [headings: string[], rows: Row[]] {
  const columns = wide ? [...COLUMNS, ...WIDE] : COLUMNS;
  return [
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, value]) => value(row))),
  ];
}
