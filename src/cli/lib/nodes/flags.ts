import { type Command, Option } from 'commander';
import type { SaltAccess } from '../../../nodes/transport/salt/access.ts';
import type { SshAddress } from '../../../nodes/transport/ssh-shell.ts';
import type { Transport } from '../../../nodes/transport/transport.ts';
import { applyEnvironment } from '../config/environment.ts';
import { NODE_SETTINGS, TRANSPORTS } from '../config/node-settings.ts';
import type { Io } from '../io.ts';
import { oneText } from '../parse.ts';
import { nodeNames } from './node-pattern.ts';

export interface NodeFlags {
  transport: Transport;
  localNode: string[];
  sshConfig?: string;
  sshGuard?: boolean;
  /** Only for `salt`. */
  salt?: SaltAccess;
  /** Addresses of nodes, which override those in their Node objects. */
  addresses: ReadonlyMap<string, SshAddress>;
  /** Ids of Salt minions, which override those in the Node objects. */
  minions: ReadonlyMap<string, string>;
}

const NODE_OPTIONS = [...NODE_SETTINGS, 'config'] as const;

/**
 * Adds the options for node access, under headings of their own in help. `heading` may depend on
 * the attribute name.
 */
export function addNodeOptions(
  command: Command,
  heading: string | ((name: string) => string) = 'Node access:',
): Command {
  command
    .addOption(
      new Option('--transport <transport>', 'transport to the nodes')
        .choices([...TRANSPORTS])
        .default('ssh'),
    )
    .addOption(
      new Option(
        '--local-node <name,...>',
        'names that this machine has as a node (with --transport local)',
      )
        .argParser(nodeNames)
        .default([], 'none'),
    )
    .option('--ssh-config <file>', 'ssh configuration file (default: ~/.ssh/config)')
    .option('--ssh-guard', 'expect salt/ssh_guard.py as the forced command of ssh')
    .option(
      '--salt-url <url>',
      'URL of salt-api, such as https://salt:8000 (with --transport salt)',
      oneText,
    )
    .option(
      '--salt-eauth <name>',
      'authentication backend of salt-api (default: sharedsecret)',
      oneText,
    )
    .option('--salt-user <name>', 'user of salt-api (default: stowage)', oneText)
    .option(
      '--salt-secret-file <file>',
      'file with the password, shared secret or token for salt-api',
      oneText,
    )
    .option('--salt-ca-file <file>', 'file with the CA certificates for salt-api, in PEM', oneText)
    .option(
      '--config <file>',
      'configuration file of nodes and transports; flags and $STOWAGE_… override it',
      oneText,
    );
  for (const option of command.options) {
    const name = option.attributeName();
    if (NODE_OPTIONS.some((each) => each === name))
      option.helpGroup(typeof heading === 'string' ? heading : heading(name));
  }
  return command;
}

/**
 * Returns the flags for node access of a command other than the daemon, from flags, environment and
 * file. Ends the command as wrong usage, or throws a StowageError, for invalid settings.
 */
export async function settleNodeFlags(command: Command, env: Io['env']): Promise<NodeFlags> {
  applyEnvironment(command, env, NODE_OPTIONS);
  const { settingsReader } = await import('../config/reader.ts');
  const { transport, localNodes, sshConfig, sshGuard, salt, addresses, minions } =
    await settingsReader(command)();
  return {
    transport,
    localNode: localNodes,
    ...(sshConfig !== undefined && { sshConfig }),
    sshGuard,
    ...(salt !== undefined && { salt }),
    addresses,
    minions,
  };
}

/**
 * Ends a command as wrong usage if it has flags for node access, but accesses none. `but`: flags
 * that have another use too.
 */
export function refuseNodeFlags(
  command: Command,
  unless: string,
  but: readonly string[] = [],
): void {
  const given = NODE_OPTIONS.find(
    (name) => command.getOptionValueSource(name) === 'cli' && !but.includes(name),
  );
  if (given === undefined) return;
  const flag = command.options.find((option) => option.attributeName() === given)?.long;
  command.error(`error: ${flag} requires ${unless}`);
}
