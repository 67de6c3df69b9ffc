import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { END_OF_TAR, tarMember } from './tar.ts';

/** An archive that is written while its files are added. */
export interface Archive {
  /** Adds a file. Calls may overlap. Throws the error of a failed write. */
  add(path: string, text: string): Promise<void>;
  /** Ends the archive, once all files are added. Throws the error of a failed write. */
  close(): Promise<void>;
}

/**
 * Creates a compressed tar archive, and passes its bytes to `write`, one call at a time.
 * @param modified time of its files in ms since the epoch
 */
export function createArchive(
  write: (bytes: Uint8Array) => unknown,
  directory: string,
  modified: number,
): Archive {
  const gzip = createGzip();
  const written = pipeline(gzip, async (compressed: AsyncIterable<Uint8Array>) => {
    for await (const bytes of compressed) await write(bytes);
  });
  // A failure is thrown by the writes, and by close().
  written.catch(() => {});
  const compress = (bytes: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  return {
    add: (path, text) => compress(tarMember(`${directory}/${path}`, Buffer.from(text), modified)),
    async close() {
      gzip.end(END_OF_TAR);
      await written;
    },
  };
}
