import utils from 'cli-table3/src/utils.js';

const ASCII = /^[\x20-\x7e]*$/;

/** Returns the columns of a line: East Asian characters and emoji have two, combining ones none. */
export const widthOf = (line: string): number =>
  ASCII.test(line) ? line.length : utils.strlen(line);

/** Cuts a line to a width, with `…` in place of the rest. */
export function shorten(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
