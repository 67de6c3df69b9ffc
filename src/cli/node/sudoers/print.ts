import type { Io } from '../../lib/io.ts';
import { readPackageFile } from '../../lib/package-file.ts';
import { type Allowed, sudoersFor } from './sudoers.ts';

/** Runs `stowage print sudoers`: prints the lines that a node needs. */
export async function printSudoers(allowed: Allowed, io: Io): Promise<void> {
  io.stdout.write(sudoersFor(await readSample(), allowed));
}

/** Returns deploy/sudoers of this version. */
export const readSample = (): Promise<string> => readPackageFile('deploy/sudoers');
