import type { Command } from 'commander';
import { addGetCommand, type GetKind, selectorOption, sortOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { nodeNames } from '../lib/nodes/node-pattern.ts';
import { durationOption } from '../lib/parse.ts';
import { NODE_NAMES } from '../lib/resource-names.ts';

export default function getNodes(get: Command, io: Io): GetKind {
  const kind = addGetCommand(get, io, {
    nouns: NODE_NAMES,
    description: 'list nodes: whether they are reachable, their free space and their Volumes',
    names: "names of nodes; 'n{1..4}' stands for four (default: all)",
    examples: ['stowage get nodes', '# Probe again every 10 s', 'stowage get nodes -w'],
    parse: nodeNames,
    options: [
      selectorOption(),
      sortOption('name', 'free', 'volumes'),
      durationOption('--timeout <duration>', 'maximum time to wait for each node', '5s'),
    ],
    watch: 'list, then probe the nodes every 10 s and print changes, until interrupted',
    settle: (command) => settleNodeFlags(command, io.env),
    view: async () => (await import('../node/get/view.ts')).NODE_VIEW,
  });
  addNodeOptions(kind.command);
  return kind;
}
