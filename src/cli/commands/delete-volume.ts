import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addWaitOptions } from '../lib/objects/flags.ts';
import { objectNames } from '../lib/parse.ts';
import type { DeleteFlags } from '../volume/delete.ts';

export default function deleteVolume(remove: Command, io: Io): void {
  const command = remove
    .command('volume')
    .aliases(['volumes', 'vol'])
    .description('delete Volumes and their storage, unless they are in use')
    .argument('<name...>', 'names of Volumes', objectNames)
    .option(
      '--forget-node',
      'do not wait for its node, which is lost: what is there is removed if it comes back',
    );
  addDeleteOptions(command).action(async (names: string[], _flags, command: Command) => {
    const flags = command.optsWithGlobals<DeleteFlags & GlobalFlags>();
    const { remove: run } = await import('../volume/delete.ts');
    await run(names, flags, io, (await connectFor(command, io)).client);
  });
}

export function addDeleteOptions(command: Command): Command {
  return addWaitOptions(command, 'wait until they are gone')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml', 'name']),
    )
    .option('--ignore-not-found', 'what does not exist is nothing to complain about')
    .option('--yes', 'destroy data without asking; nothing asks where there is no terminal');
}
