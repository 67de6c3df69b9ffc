/**
 * Yields each non-empty line of a stream of bytes as text. Lines are split as bytes, so that
 * characters across two chunks stay whole. (node:readline is unsuitable: it also splits at U+2028,
 * which is valid inside a JSON string.) Text after the last newline is yielded too: if the
 * connection was cut, this text is a partial line.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Pieces of the current line: concatenating at every chunk is quadratic for long lines.
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
