import { type Command, Option } from 'commander';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { SNAPSHOT_NOUNS } from '../nouns.ts';
import { objectNames } from '../parse.ts';
import type { GetSnapshotsFlags } from '../snapshots/get.ts';

export default function getSnapshots(get: Command, io: Io): void {
  const [noun, ...aliases] = SNAPSHOT_NOUNS;
  get
    .command(noun)
    .aliases(aliases)
    .description('show VolumeSnapshots')
    .argument('[name...]', 'names of VolumeSnapshots (default: all of the namespace)', objectNames)
    .option('-A, --all-namespaces', 'those of all namespaces')
    .option('-l, --selector <selector>', 'only those with these labels, as for kubectl')
    .addOption(
      new Option('--sort-by <field>', 'the smallest first').choices([
        'name',
        'age',
        'size',
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
      const flags = command.optsWithGlobals<GetSnapshotsFlags & GlobalFlags>();
      const { getSnapshots: run } = await import('../snapshots/get.ts');
      await run(names ?? [], flags, io, () => connectFor(command, io));
    });
}
