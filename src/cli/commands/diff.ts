import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { ExitError } from '../lib/exit-error.ts';
import { codeOf } from '../lib/failure.ts';
import { clientFor } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { FILE, fileNames, OF_FILE } from './file-option.ts';

/** Exit status if there are differences, as in diff(1) and kubectl diff. */
const DIFFERENT = 1;
/** Exit status of failures, as in diff(1): 1 would mean a difference. */
const TROUBLE = 2;

export default function diff(program: Command, io: Io): void {
  const command = program
    .command('diff')
    .description(
      'show what manifests would change in the cluster; exit with 1 if there are differences',
    )
    .requiredOption(FILE, OF_FILE, fileNames)
    .action(async ({ filename }: { filename: string[] }, command: Command) => {
      const { diff: run } = await import('../volume/manifests/diff/diff.ts');
      if (await orTrouble(run(filename, io, clientFor(command, io))))
        throw new ExitError(DIFFERENT);
    });
  addExamples(command, ['stowage diff -f volumes.yaml']);
}

async function orTrouble<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw codeOf(error) === 'failed' ? new ExitError(TROUBLE, error) : error;
  }
}
