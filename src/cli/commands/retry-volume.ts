import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { selectorOption } from '../lib/get/get-command.ts';
import { clientFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { objectNames } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';
import type { RetryFlags } from '../volume/retry.ts';

export default function retryVolume(retry: Command, io: Io): void {
  const [plural, singular, ...short] = VOLUME_NAMES;
  const command = retry
    .command(singular)
    .aliases([plural, ...short])
    .description('retry failed work on Volumes now, once')
    .argument('[name...]', 'names of Volumes', objectNames)
    .addOption(selectorOption())
    .option('--all', 'retry all Volumes of the cluster that failed or wait')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .action(async (names: string[] | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<RetryFlags & GlobalFlags>();
      const { retry: run } = await import('../volume/retry.ts');
      await run(names ?? [], flags, io, clientFor(command, io));
    });
  addExamples(command, [
    'stowage retry volume data1',
    '# All Volumes that failed or wait',
    'stowage retry volume --all',
  ]);
}
