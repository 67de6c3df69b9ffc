import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { selectorOption } from '../lib/get/get-command.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { addWaitOptions } from '../lib/objects/flags.ts';
import { objectNames } from '../lib/parse.ts';
import type { DeleteFlags } from '../volume/delete.ts';

export default function deleteVolume(remove: Command, io: Io): void {
  const command = remove
    .command('volume')
    .aliases(['volumes', 'vol'])
    .description('delete Volumes and their storage, unless they are in use')
    .argument('[name...]', 'names of Volumes', objectNames)
    .addOption(selectorOption())
    .option('--all', 'delete all Volumes of the cluster')
    .option(
      '--forget-node',
      'do not wait for the lost node of a Volume: its storage is removed if the node returns',
    );
  addDeleteOptions(command, 'without a terminal, only --forget-node needs it').action(
    async (names: string[] | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<DeleteFlags & GlobalFlags>();
      const { remove: run } = await import('../volume/delete.ts');
      await run(names ?? [], flags, io, clientFor(command, io));
    },
  );
  addExamples(command, [
    'stowage delete volume data1 --wait',
    '# All Volumes with a label',
    'stowage delete volume -l app=db',
    '# A Volume on a node that is lost',
    'stowage delete volume data1 --forget-node',
  ]);
}

/** @param consent when `--yes` is needed */
export function addDeleteOptions(command: Command, consent: string): Command {
  return addWaitOptions(command, 'wait until the Volumes are gone')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .option('--ignore-not-found', 'succeed if an object does not exist')
    .option('--yes', `destroy data without confirmation (${consent})`);
}
