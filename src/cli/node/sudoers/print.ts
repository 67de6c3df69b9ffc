import type { Io } from '../../lib/io.ts';
import { readPackageFile } from '../../lib/package-file.ts';
import { type Allowed, sudoersFor } from './sudoers.ts';

/** `stowage print sudoers`: what a node needs, on standard output. */
export async function printSudoers(allowed: Allowed, io: Io): Promise<void> {
  io.stdout.write(sudoersFor(await readSample(), allowed));
}

/** deploy/sudoers, as this version has it. */
export const readSample = (): Promise<string> => readPackageFile('deploy/sudoers');
