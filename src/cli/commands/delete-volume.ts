import type { Command } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { durationOption, objectNames } from '../parse.ts';
import type { DeleteFlags } from '../volume/delete.ts';

export default function deleteVolume(remove: Command, io: Io): void {
  remove
    .command('volume')
    .aliases(['volumes', 'vol'])
    .description('delete Volumes and their storage, unless they are in use')
    .argument('<name...>', 'names of Volumes', objectNames)
    .option('--wait', 'wait until they are gone')
    .addOption(durationOption('--timeout <duration>', 'how long to wait at most', '5m'))
    .option('--ignore-not-found', 'a Volume that does not exist is none to complain about')
    .option(
      '--forget-node',
      'do not wait for its node, which is lost: what is there is removed if it comes back',
    )
    .option('--yes', 'do not ask before --forget-node')
    .action(async (names: string[], _flags, command: Command) => {
      const flags = command.optsWithGlobals<DeleteFlags & GlobalFlags>();
      const { remove: run } = await import('../volume/delete.ts');
      await run(names, flags, io, (await connectFor(command, io)).client);
    });
}
