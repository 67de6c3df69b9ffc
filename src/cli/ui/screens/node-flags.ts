import { Command } from 'commander';
import type { Io } from '../../lib/io.ts';
import { addNodeOptions, type NodeFlags, settleNodeFlags } from '../../lib/nodes/flags.ts';

/**
 * Returns the flags for node access of a command line without any: from the environment and the
 * file that it names, as for the commands that the page runs. Throws an error for invalid settings.
 */
export function nodeFlagsOf(env: Io['env']): Promise<NodeFlags> {
  const command = addNodeOptions(new Command('ui'))
    .exitOverride()
    .configureOutput({ writeErr() {} });
  return settleNodeFlags(command.parse([], { from: 'user' }), env);
}
