import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { GetGrantsFlags } from '../grants/get.ts';
import type { Io } from '../io.ts';
import { GRANT_NOUNS } from '../nouns.ts';
import { objectNames } from '../parse.ts';

export default function getGrants(get: Command, io: Io): void {
  const [noun, ...aliases] = GRANT_NOUNS;
  get
    .command(noun)
    .aliases(aliases)
    .description(
      'show which namespaces may use snapshots of a namespace, and which claims and links do',
    )
    .argument('[name...]', 'names of ReferenceGrants (default: all about snapshots)', objectNames)
    .option('-A, --all-namespaces', 'those of all namespaces')
    .option('-l, --selector <selector>', 'only those with these labels, as for kubectl')
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
      const flags = command.optsWithGlobals<GetGrantsFlags & GlobalFlags>();
      const { getGrants: run } = await import('../grants/get.ts');
      await run(names ?? [], flags, io, () => connectFor(command, io));
    });
}
