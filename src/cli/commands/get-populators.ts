import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { POPULATOR_NOUNS } from '../nouns.ts';
import { objectNames } from '../parse.ts';
import type { GetPopulatorsFlags } from '../populators/get.ts';

export default function getPopulators(get: Command, io: Io): void {
  const [noun, ...aliases] = POPULATOR_NOUNS;
  get
    .command(noun)
    .aliases(aliases)
    .description('show from which kinds volumes are filled, by what, and for which claims')
    .argument('[name...]', 'names under which they are registered (default: all)', objectNames)
    .option('-w, --watch', 'then show each change, until interrupted')
    .option('--no-headers', 'tables without headings')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices([
        'json',
        'yaml',
        'name',
        'wide',
      ]),
    )
    .action(async (names: string[] | undefined, _flags, command: Command) => {
      const flags = command.optsWithGlobals<GetPopulatorsFlags & GlobalFlags>();
      const { getPopulators: run } = await import('../populators/get.ts');
      await run(names ?? [], flags, io, await connectFor(command, io));
    });
}
