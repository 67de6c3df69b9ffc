import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { objectName } from '../lib/parse.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';
import type { UnregisterFlags } from '../populators/unregister.ts';

export default function unregisterPopulator(unregister: Command, io: Io): void {
  const [plural, singular, ...more] = POPULATOR_NAMES;
  unregister
    .command(singular)
    .aliases([plural, ...more])
    .description('fill no more volumes from a kind; refused while claims wait for it')
    .argument('<name>', 'under which it is registered', objectName)
    .addOption(
      new Option('--dry-run <mode>', 'remove nothing: let the server check')
        .choices(['none', 'server'])
        .default('none'),
    )
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<UnregisterFlags & GlobalFlags>();
      const { unregister: run } = await import('../populators/unregister.ts');
      await run(name, flags, io, await connectFor(command, io));
    });
}
