import { type Command, Option } from 'commander';
import { addGetCommand, selectorOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { nodeNames } from '../lib/nodes/node-pattern.ts';
import { durationOption } from '../lib/parse.ts';
import { NODE_NAMES } from '../lib/resource-names.ts';

export default function topNodes(top: Command, io: Io): void {
  const { command } = addGetCommand(top, io, {
    nouns: NODE_NAMES,
    description: 'show the space of directories, volume groups and thin pools of Volumes',
    names: "names of nodes; 'n{1..4}' stands for four (default: all)",
    examples: ['stowage top nodes', 'stowage top nodes -o wide --sort-by promised'],
    parse: nodeNames,
    options: [
      selectorOption(),
      new Option('--sort-by <field>', 'sort by this field, largest numbers first').choices([
        ...['name', 'size', 'used', 'free', 'volumes', 'promised'],
      ]),
      durationOption('--timeout <duration>', 'maximum time to wait for each node', '5s'),
    ],
    watch: 'show, then measure again every 30 s and print changes, until interrupted',
    settle: (command) => settleNodeFlags(command, io.env),
    view: async () => (await import('../top/nodes/view.ts')).TOP_NODE_VIEW,
  });
  addNodeOptions(command);
}
