import { type Command, Option } from 'commander';
import type { GetNodesFlags } from '../get-nodes/get.ts';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { type Nodes, nodes } from '../node-pattern.ts';
import { addNodeOptions, settleNodeFlags } from '../nodes/flags.ts';
import { NODE_NOUNS } from '../nouns.ts';
import { durationOption } from '../parse.ts';

export default function getNodes(get: Command, io: Io): void {
  const [noun, ...aliases] = NODE_NOUNS;
  const command = get
    .command(noun)
    .aliases(aliases)
    .description('show nodes: whether they are reached, their free space, their Volumes')
    .argument('[name...]', 'nodes; n{1..4} is four (default: all)', nodes)
    .option('-l, --selector <selector>', 'only those with these labels, as for kubectl')
    .addOption(
      new Option('--sort-by <field>', 'the smallest first').choices(['name', 'free', 'volumes']),
    )
    .addOption(durationOption('--timeout <duration>', 'how long to wait for each node', '5s'))
    .option('-w, --watch', 'look again every 10 s and show what changed, until interrupted')
    .option('--no-headers', 'tables without headings')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices([
        'json',
        'yaml',
        'name',
        'wide',
      ]),
    );
  addNodeOptions(command).action(async (given: Nodes | undefined, _flags, command: Command) => {
    const nodeFlags = await settleNodeFlags(command, io.env);
    const flags = { ...command.optsWithGlobals<GetNodesFlags & GlobalFlags>(), ...nodeFlags };
    const { getNodes: run } = await import('../get-nodes/get.ts');
    await run(given?.names ?? [], flags, io, (await connectFor(command, io)).client);
  });
}
