import { type Command, Option } from 'commander';
import { addExamples } from '../lib/examples.ts';
import { connectFor, type GlobalFlags } from '../lib/globals.ts';
import type { Io } from '../lib/io.ts';
import { objectName } from '../lib/parse.ts';
import { POPULATOR_NAMES } from '../lib/resource-names.ts';
import type { UnregisterFlags } from '../populators/unregister.ts';

export default function unregisterPopulator(unregister: Command, io: Io): void {
  const [plural, singular, ...more] = POPULATOR_NAMES;
  const command = unregister
    .command(singular)
    .aliases([plural, ...more])
    .description(
      'unregister a populator: stop filling volumes from its kind. Refused while claims wait for it.',
    )
    .argument('<name>', 'name of the populator', objectName)
    .addOption(
      new Option('--dry-run <mode>', 'remove nothing: server validates the request')
        .choices(['none', 'server'])
        .default('none'),
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'name']),
    )
    .action(async (name: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<UnregisterFlags & GlobalFlags>();
      const { unregister: run } = await import('../populators/unregister.ts');
      await run(name, flags, io, await connectFor(command, io));
    });
  addExamples(command, ['stowage unregister populator hello']);
}
