/** A script for `sh -c` as one line: each of its lines but the last of a block ends with what may stand before a space. */
export const oneLine = (script: string): string =>
  script
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
