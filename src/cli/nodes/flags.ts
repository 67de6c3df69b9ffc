import { type Command, Option } from 'commander';
import type { Transport } from '../../nodes/transport.ts';
import { nodeNames } from '../parse.ts';

export const TRANSPORTS = ['ssh', 'salt', 'local'] as const satisfies readonly Transport[];

/** How nodes are reached. */
export interface NodeFlags {
  transport: Transport;
  localNode: string[];
  sshConfig?: string;
  saltUrl?: string;
  saltEauth?: string;
  saltUser?: string;
  saltSecretFile?: string;
  saltCaFile?: string;
}

/** By their names in what was parsed. */
export const NODE_FLAGS = [
  'transport',
  'localNode',
  'sshConfig',
  'saltUrl',
  'saltEauth',
  'saltUser',
  'saltSecretFile',
  'saltCaFile',
] as const satisfies readonly (keyof NodeFlags)[];

/** `when` is said of each, where they count only then. */
export function addNodeOptions(command: Command, when = ''): Command {
  return command
    .addOption(
      new Option('--transport <transport>', `how nodes are reached${when}`)
        .choices(TRANSPORTS)
        .default('ssh'),
    )
    .option(
      '--local-node <name,...>',
      `nodes that this machine is (with --transport local)${when}`,
      nodeNames,
      [],
    )
    .option('--ssh-config <file>', `configuration of ssh (default: ~/.ssh/config)${when}`)
    .option('--salt-url <url>', `salt-api, such as https://salt:8000 (with --transport salt)${when}`)
    .option('--salt-eauth <name>', `how salt-api checks the secret (default: sharedsecret)${when}`)
    .option('--salt-user <name>', `account of salt-api (default: stowage)${when}`)
    .option('--salt-secret-file <file>', `its password, shared secret or token${when}`)
    .option('--salt-ca-file <file>', `certificates that may have signed salt-api's (PEM)${when}`);
}

/** Ends a command whose flags contradict each other, as wrong usage. */
export function checkNodeFlags(command: Command): void {
  const { transport, localNode } = command.opts<NodeFlags>();
  if ((transport === 'local') !== localNode.length > 0) {
    command.error('error: --transport local and --local-node go together');
  }
}

/** Ends a command that was told how to reach nodes and reaches none, as wrong usage. */
export function refuseNodeFlags(command: Command, unless: string): void {
  const given = NODE_FLAGS.find((name) => command.getOptionValueSource(name) === 'cli');
  if (given === undefined) return;
  const flag = command.options.find((option) => option.attributeName() === given)?.long;
  command.error(`error: ${flag} goes with ${unless}`);
}
