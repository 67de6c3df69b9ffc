import { printable } from './printable.ts';
import { shorten, widthOf } from './width.ts';

/** Cells of a row. A missing one shows as `<none>`. */
export type Row = readonly (string | undefined)[];

export interface TableOptions {
  /** Width of the terminal in columns; cells are shortened so that rows fit. Unset: no limit. */
  width?: number | undefined;
  headings?: boolean | undefined;
}

const GAP = 3;
/** Minimum width of a shortened column. */
const NARROWEST = 5;

/** Returns rows under headings, in columns as kubectl prints them. */
export function table(
  headings: readonly string[],
  rows: readonly Row[],
  options: TableOptions = {},
): string {
  const lines = [...(options.headings === false ? [] : [headings]), ...rows].map(cellsOf);
  const widths = widthsOf(lines);
  return draw(lines, fitted(widths, headings, options.width));
}

export const cellsOf = (row: Row): string[] =>
  row.map((cell) => (cell ? printable(cell).replaceAll(/[\n\t]/g, ' ') : '<none>'));

/** Returns the width of each column, which is at least the width before. */
export function widthsOf(lines: readonly string[][], before: readonly number[] = []): number[] {
  const widths = [...before];
  for (const line of lines) {
    for (const [column, cell] of line.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    }
  }
  return widths;
}

/** Columns that are read first: they are narrowed only if all others are at their minimum. */
const LAST = ['NAME', 'PHASE', 'READY', 'STATE', 'STATUS'];

/** Narrows the widest columns until a row fits. The first one stays whole, as it names things. */
function fitted(
  widths: readonly number[],
  headings: readonly string[],
  most = Number.POSITIVE_INFINITY,
): number[] {
  const result = [...widths];
  const over = () => result.reduce((sum, width) => sum + width + GAP, -GAP) - most;
  const least = headings.map((heading) => Math.max(NARROWEST, heading.length));
  while (over() > 0) {
    const [, ...others] = result.map((width, column) => ({ width, column }));
    const narrower = others.filter(({ width, column }) => width > (least[column] ?? 0));
    const free = narrower.filter(({ column }) => !LAST.includes(headings[column] ?? ''));
    const [widest] = (free.length > 0 ? free : narrower).toSorted((a, b) => b.width - a.width);
    if (widest === undefined) break;
    result[widest.column] = widest.width - 1;
  }
  return result;
}

/** Draws cells that `cellsOf` made. */
export function draw(lines: readonly string[][], widths: readonly number[]): string {
  return lines
    .map((line) => {
      const cells = line.map((cell, column) => shorten(cell, widths[column] ?? 0));
      const padded = cells.map(
        (cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)),
      );
      return `${padded.join(' '.repeat(GAP)).trimEnd()}\n`;
    })
    .join('');
}
