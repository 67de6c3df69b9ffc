import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { StowageError } from '../../../api/errors.ts';

/**
 * Writes a file that only its owner can read. The file appears as a whole, or not at all, since
 * another program may read it at once. Throws a StowageError.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const partial = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(partial, text, { mode: 0o600, flag: 'wx' });
    await rename(partial, path);
  } catch (cause) {
    await rm(partial, { force: true });
    throw new StowageError('failed', `${path} cannot be written: ${(cause as Error).message}`, {
      cause,
    });
  }
}
