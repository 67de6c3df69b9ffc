import { type Command, Option } from 'commander';
import { addGetCommand, nodeOption, selectorOption } from '../lib/get/get-command.ts';
import type { Io } from '../lib/io.ts';
import { addNodeOptions, settleNodeFlags } from '../lib/nodes/flags.ts';
import { durationOption } from '../lib/parse.ts';
import { VOLUME_NAMES } from '../lib/resource-names.ts';

export default function topVolumes(top: Command, io: Io): void {
  const { command } = addGetCommand(top, io, {
    nouns: VOLUME_NAMES,
    description: 'show how full volumes are, and how much they occupy on their nodes',
    names: 'names of Volumes (default: all)',
    examples: [
      'stowage top volumes --sort-by use',
      '# Measure growth until interrupted: the daemon does not record it',
      'stowage top volumes -w',
    ],
    options: [
      nodeOption(),
      selectorOption(),
      new Option('--sort-by <field>', 'sort by this field, largest numbers first').choices([
        ...['name', 'node', 'size', 'used', 'use', 'inodes', 'on-disk', 'growth'],
      ]),
      durationOption('--timeout <duration>', 'maximum time to wait for each node', '5s'),
    ],
    watch: 'show, then measure again every 30 s and print changes, with growth, until interrupted',
    settle: (command) => settleNodeFlags(command, io.env),
    view: async () => (await import('../top/volumes/view.ts')).TOP_VOLUME_VIEW,
  });
  addNodeOptions(command);
}
