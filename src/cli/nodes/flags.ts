import { type Command, Option } from 'commander';
import type { SshAddress } from '../../nodes/ssh-shell.ts';
import { applyEnvironment } from '../config/environment.ts';
import type { Io } from '../io.ts';
import { nodeNames } from '../node-pattern.ts';
import { oneText } from '../parse.ts';

/** How nodes are reached. */
export interface NodeFlags {
  transport: 'ssh' | 'local';
  localNode: string[];
  sshConfig?: string;
  /** Where nodes are reached, whatever their objects say. */
  addresses: ReadonlyMap<string, SshAddress>;
}

const NODE_OPTIONS = ['transport', 'localNode', 'sshConfig', 'config'];

/** `when` is said of each, where they count only then. */
export function addNodeOptions(command: Command, when = ''): Command {
  return command
    .addOption(
      new Option('--transport <transport>', `how nodes are reached${when}`)
        .choices(['ssh', 'local'])
        .default('ssh'),
    )
    .option(
      '--local-node <name,...>',
      `nodes that this machine is (with --transport local)${when}`,
      nodeNames,
      [],
    )
    .option('--ssh-config <file>', `configuration of ssh (default: ~/.ssh/config)${when}`)
    .option(
      '--config <file>',
      `settings of nodes and transports; flags and $STOWAGE_… go before it${when}`,
      oneText,
    );
}

/**
 * How nodes are reached by a command that is no daemon, by the same flags, environment and file. Ends it as wrong usage, or
 * throws a StowageError that says so.
 */
export async function settleNodeFlags(command: Command, env: Io['env']): Promise<NodeFlags> {
  applyEnvironment(command, env, NODE_OPTIONS);
  const { settingsReader } = await import('../config/reader.ts');
  const { transport, localNodes, sshConfig, addresses } = await settingsReader(command)();
  return { transport, localNode: localNodes, ...(sshConfig !== undefined && { sshConfig }), addresses };
}

/** Ends a command that was told how to reach nodes and reaches none, as wrong usage. */
export function refuseNodeFlags(command: Command, unless: string): void {
  const given = NODE_OPTIONS.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const flag = command.options.find((option) => option.attributeName() === given)?.long;
  command.error(`error: ${flag} goes with ${unless}`);
}
