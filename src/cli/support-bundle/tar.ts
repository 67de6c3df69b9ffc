const BLOCK = 512;

/** Bytes of zeros that end an archive. */
export const END_OF_TAR = Buffer.alloc(2 * BLOCK);

/**
 * Returns a file as a member of an archive in the format ustar (POSIX.1-1988), which only its owner
 * may read once it is unpacked. Pure.
 * @param path relative path, with at most 155 bytes before its last slash and 100 after it
 * @param modified time in ms since the epoch
 * @throws RangeError for a longer or an absolute path
 */
export function tarMember(path: string, content: Buffer, modified: number): Buffer {
  const slash = path.lastIndexOf('/');
  const prefix = path.slice(0, Math.max(slash, 0));
  const name = path.slice(slash + 1);
  if (name === '' || path.startsWith('/') || path.split('/').includes('..'))
    throw new RangeError(`${JSON.stringify(path)} is no path of a member`);
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(prefix) > 155)
    throw new RangeError(`${JSON.stringify(path)} is too long for a member`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0, 'utf8');
  octal(0o600, 100, 8);
  octal(0, 108, 8); // owner and group: root
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(Math.floor(modified / 1000), 136, 12);
  // The checksum is computed with spaces in its place.
  header.write('        ', 148, 'latin1');
  header.write('0', 156, 'latin1'); // a regular file
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345, 'utf8');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return Buffer.concat([header, content, padding]);
}
