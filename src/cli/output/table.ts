import Table from 'cli-table3';
import { printable } from './printable.ts';

/** No lines around or between cells. */
const BORDERS = ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
  side,
  ...(side === 'mid' ? [] : ['mid', 'left', 'right'].map((corner) => `${side}-${corner}`)),
]);
const NONE = Object.fromEntries(
  [...BORDERS, 'left-mid', 'mid-mid', 'right-mid', 'middle'].map((name) => [name, '']),
);

/** Rows under headings, in columns as kubectl prints them. What there is none of shows as `<none>`. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const drawn = new Table({
    chars: NONE,
    // Without these the headings would be red, also in a file.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 3 },
  });
  const oneLine = (text: string) => printable(text).replaceAll(/[\n\t]/g, ' ');
  drawn.push([...headings], ...rows.map((row) => row.map((cell) => (cell ? oneLine(cell) : '<none>'))));
  return `${drawn.toString().replaceAll(/ +$/gm, '')}\n`;
}
