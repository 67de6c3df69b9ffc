import type { Command } from 'commander';
import { NODES } from '../../api/resources.ts';
import { addDescribeCommand } from '../lib/describe-command.ts';
import type { Io } from '../lib/io.ts';
import { NODE_NAMES } from '../lib/resource-names.ts';

export default function describeNode(describe: Command, io: Io): void {
  const [plural, singular, short] = NODE_NAMES;
  addDescribeCommand(describe, io, {
    resource: NODES,
    nouns: [singular, plural, short],
    description:
      'show what the cluster records about nodes: access, Volumes, free space, blocker, events. Connects to no node.',
    names: 'names of nodes',
    examples: ['stowage describe node n1'],
    load: async () => (await import('../why/describe/node.ts')).describeNode,
  });
}
