/**
 * Splits a stream of bytes at newlines, and yields each line as text. Splitting happens on bytes, so that characters
 * cut in two by a chunk's end stay whole. (node:readline will not do: it also splits at U+2028, which is legal inside
 * a JSON string.) What follows the last newline is yielded too: when a connection was cut, that is half a line.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Kept as pieces until the newline comes: concatenating at every chunk is quadratic for long lines.
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end));
      const line = Buffer.concat(pieces).toString();
      pieces = [];
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString();
}
