import utils from 'cli-table3/src/utils.js';

const ASCII = /^[\x20-\x7e]*$/;

/** How many columns of a terminal a line takes: characters of East Asia and emoji take two, those that combine none. */
export const widthOf = (line: string): number =>
  ASCII.test(line) ? line.length : utils.strlen(line);

/** A line cut to a width, with `…` in place of what is left out. */
export function shorten(line: string, width: number): string {
  if (widthOf(line) <= width) return line;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
