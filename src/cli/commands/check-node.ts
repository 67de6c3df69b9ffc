import { type Command, Option } from 'commander';
import type { CheckFlags } from '../check-node/check.ts';
import { connectFor, type GlobalFlags } from '../globals.ts';
import type { Io } from '../io.ts';
import { type Nodes, nodes } from '../node-pattern.ts';
import { addNodeOptions, checkNodeFlags } from '../nodes/flags.ts';

export default function checkNode(check: Command, io: Io): void {
  const command = check
    .command('node')
    .aliases(['nodes', 'no'])
    .description('look at nodes: tools that are missing, and what no Volume owns there. Nothing is changed.')
    .argument('<name...>', 'nodes; n{1..4} is four', nodes)
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['json', 'yaml']));
  addNodeOptions(command).action(async ({ names }: Nodes, _flags, command: Command) => {
    const flags = command.optsWithGlobals<CheckFlags & GlobalFlags>();
    checkNodeFlags(command);
    const { checkNodes } = await import('../check-node/check.ts');
    await checkNodes(names, flags, io, (await connectFor(command, io)).client);
  });
}
