import type { Command } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addCreateOptions, addWaitOptions } from '../lib/objects/flags.ts';
import type { CreateFromFilesFlags } from '../volume/manifests/create.ts';
import { addFileOption, requireFiles } from './file-option.ts';

/** Adds `stowage create -f FILE`, without a kind. */
export default function createFromFiles(create: Command, io: Io): void {
  const command = addFileOption(create, 'create').option('--yes', 'overwrite without confirmation');
  addWaitOptions(addCreateOptions(command), 'wait until the Volumes are ready').action(
    async (_flags, command: Command) => {
      const files = requireFiles(create, command);
      const flags = command.optsWithGlobals<CreateFromFilesFlags & GlobalFlags>();
      const { create: run } = await import('../volume/manifests/create.ts');
      await run(files, flags, io, clientFor(command, io));
    },
  );
  addExamples(command, [
    'stowage create -f volumes.yaml --wait',
    '# All manifests of a directory',
    'stowage create -f manifests/',
  ]);
}
