import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { StowageError } from '../../../../api/errors.ts';
import { messageOf } from '../../../lib/failure.ts';
import type { Io } from '../../../lib/io.ts';

/** Two files of one name; the live one may be absent. */
export interface Pair {
  name: string;
  live: string | undefined;
  wanted: string;
}

/**
 * Returns the output of diff(1), or of the program that kubectl would run, for files in two
 * directories, and whether these differ. Throws a StowageError if the program fails.
 */
export async function compare(
  pairs: readonly Pair[],
  { env, signal }: Io,
): Promise<{ differ: boolean; text: string }> {
  const [program = 'diff', ...args] = (env.KUBECTL_EXTERNAL_DIFF?.trim() || 'diff -u -N').split(
    /\s+/,
  );
  const directory = await temporaryDirectory(env.TMPDIR || tmpdir());
  try {
    await Promise.all(['LIVE', 'MERGED'].map((side) => mkdir(join(directory, side))));
    for (const { name, live, wanted } of pairs) {
      if (live !== undefined) await writeFile(join(directory, 'LIVE', name), live);
      await writeFile(join(directory, 'MERGED', name), wanted);
    }
    const { exitCode, stdout, stderr, shortMessage } = await execa(
      program,
      [...args, 'LIVE', 'MERGED'],
      {
        cwd: directory,
        cancelSignal: signal,
        reject: false,
        stripFinalNewline: false,
      },
    );
    if (exitCode === 0 || exitCode === 1) return { differ: exitCode === 1, text: stdout };
    throw new StowageError(
      'failed',
      `${program} could not compare: ${stderr?.trim() || shortMessage}`,
      {
        hint: 'Install diff(1), from the package diffutils, or correct $KUBECTL_EXTERNAL_DIFF.',
      },
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Creates a directory that only its owner can read. Throws a StowageError. */
async function temporaryDirectory(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, 'stowage-diff-'));
  } catch (cause) {
    throw new StowageError(
      'failed',
      `cannot create a directory in ${parent} for the files to compare: ${messageOf(cause)}`,
      { hint: 'Set $TMPDIR to a directory that you may write to.', cause },
    );
  }
}
