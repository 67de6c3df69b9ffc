import { type Command, Option } from 'commander';
import type { GetAttachmentsFlags } from '../attachments/get.ts';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { nodeNames } from '../node-pattern.ts';
import { ATTACHMENT_NOUNS } from '../nouns.ts';
import { objectNames } from '../parse.ts';

export default function getAttachments(get: Command, io: Io): void {
  const [noun, ...aliases] = ATTACHMENT_NOUNS;
  get
    .command(noun)
    .aliases(aliases)
    .description('show where the devices of Volumes are, and which pods need them there')
    .argument('[name...]', 'names of Volumes (default: all)', objectNames)
    .option('--node <name,...>', 'only those on these nodes; n{1..4} is four', nodeNames)
    .option('-l, --selector <selector>', 'only those of Volumes with these labels, as for kubectl')
    .addOption(
      new Option('--sort-by <field>', 'the smallest first').choices([
        'volume',
        'node',
        'state',
        'age',
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
      const flags = command.optsWithGlobals<GetAttachmentsFlags & GlobalFlags>();
      const { getAttachments: run } = await import('../attachments/get.ts');
      await run(names ?? [], flags, io, async () => (await connectFor(command, io)).client);
    });
}
