import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Io } from '../io.ts';
import { type Allowed, sudoersFor } from './sudoers.ts';

/** `stowage print sudoers`: what a node needs, on standard output. */
export async function printSudoers(allowed: Allowed, io: Io): Promise<void> {
  io.stdout.write(sudoersFor(await readSample(), allowed));
}

/** deploy/sudoers, as this version has it. */
export const readSample = async (): Promise<string> => readFile(await sampleFile(), 'utf8');

/** It comes with the package, in whose folder this program is. */
async function sampleFile(): Promise<string> {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'deploy', 'sudoers');
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere || folder === dirname(folder)) return file;
  }
}
