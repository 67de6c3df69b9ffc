import { cellsOf, draw, type Row, widthsOf } from './table.ts';

/**
 * Returns a writer for a table whose rows come over time. As in kubectl, a column is as wide as its
 * widest cell so far. Headings precede the first rows.
 */
export function streamTable(
  headings: readonly string[],
  write: (text: string) => void,
  options: { headings?: boolean | undefined } = {},
): (rows: readonly Row[]) => void {
  let widths: number[] = [];
  let begun = options.headings === false;
  return (rows) => {
    if (rows.length === 0) return;
    const lines = [...(begun ? [] : [headings]), ...rows].map(cellsOf);
    begun = true;
    widths = widthsOf(lines, widths);
    write(draw(lines, widths));
  };
}
