import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import type { DeleteFlags } from '../volume/delete.ts';
import { addDeleteOptions } from './delete-volume.ts';
import { addFileOption, requireFiles } from './file-option.ts';

/** Adds `stowage delete -f FILE`, without a kind. */
export default function deleteFromFiles(remove: Command, io: Io): void {
  const command = addFileOption(remove, 'delete');
  addDeleteOptions(command, 'never asked for without a terminal').action(
    async (_flags, command: Command) => {
      const files = requireFiles(remove, command);
      const flags = command.optsWithGlobals<DeleteFlags & GlobalFlags>();
      const { remove: run } = await import('../volume/manifests/delete.ts');
      await run(files, flags, io, clientFor(command, io));
    },
  );
  addExamples(command, ['stowage delete -f volumes.yaml --wait']);
}
