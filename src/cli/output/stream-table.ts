import { table } from './table.ts';

type Row = readonly (string | undefined)[];

/**
 * A table whose rows come over time. As in kubectl's, a column is as wide as what was widest in it so far, and the
 * headings come with the first rows.
 */
export function streamTable(
  headings: readonly string[],
  write: (text: string) => void,
): (rows: Row[]) => void {
  const widest = [...headings];
  let begun = false;
  return (rows) => {
    if (rows.length === 0) return;
    for (const row of rows) {
      for (const [column, cell = '<none>'] of row.entries()) {
        if (cell.length > (widest[column]?.length ?? 0)) widest[column] = cell;
      }
    }
    // Drawn under what is widest, which is then cut off.
    const drawn = table(widest, begun ? rows : [headings, ...rows]);
    begun = true;
    write(drawn.slice(drawn.indexOf('\n') + 1));
  };
}
