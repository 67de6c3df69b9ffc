import type { Command } from 'commander';
import { addGetCommand, selectorOption, sortOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { nodeNames } from '../lib/nodes/node-pattern.ts';
import { durationOption } from '../lib/parse.ts';
import { NODE_NAMES } from '../lib/resource-names.ts';

export default function getNodes(get: Command, io: Io): void {
  const command = addGetCommand(get, io, {
    nouns: NODE_NAMES,
    description: 'show nodes: whether they are reached, their free space, their Volumes',
    names: 'nodes; n{1..4} is four (default: all)',
    parse: nodeNames,
    options: [
      selectorOption(),
      sortOption('name', 'free', 'volumes'),
      durationOption('--timeout <duration>', 'how long to wait for each node', '5s'),
    ],
    watch: 'look again every 10 s and show what changed, until interrupted',
    settle: (command) => settleNodeFlags(command, io.env),
    view: async () => (await import('../node/get/view.ts')).NODE_VIEW,
  });
  addNodeOptions(command);
}
