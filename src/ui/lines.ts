/** Maximum characters of a line: a chunk of rows is far shorter. */
const MOST = 16 << 20;

/**
 * Returns a function that takes parts of a stream, and returns the complete lines so far. Throws
 * an Error for an endless line.
 */
export function lineSplitter(): (part: string) => string[] {
  let rest = '';
  return (part) => {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST) throw new Error('a line of the server has no end');
    return lines.filter((line) => line !== '');
  };
}
