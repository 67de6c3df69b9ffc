import { cellsOf, draw, type Row, widthsOf } from './table.ts';

/**
 * A table whose rows come over time. As in kubectl's, a column is as wide as what was widest in it so far, and the
 * headings come with the first rows, if at all.
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
