import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { nodeNames } from '../node-pattern.ts';
import { VOLUME_NOUNS } from '../nouns.ts';
import { objectNames } from '../parse.ts';
import type { GetFlags } from '../volume/get.ts';

export default function getVolumes(get: Command, io: Io): void {
  const [noun, ...aliases] = VOLUME_NOUNS;
  get
    .command(noun)
    .aliases(aliases)
    .description('show Volumes')
    .argument('[name...]', 'names of Volumes (default: all)', objectNames)
    .option('--node <name,...>', 'only those on these nodes; n{1..4} is four', nodeNames)
    .option('-l, --selector <selector>', 'only those with these labels, as for kubectl')
    .addOption(
      new Option('--sort-by <field>', 'the smallest first').choices([
        'name',
        'node',
        'age',
        'capacity',
        'phase',
      ]),
    )
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
      const flags = command.optsWithGlobals<GetFlags & GlobalFlags>();
      const { get: run } = await import('../volume/get.ts');
      await run(names ?? [], flags, io, async () => (await connectFor(command, io)).client);
    });
}
