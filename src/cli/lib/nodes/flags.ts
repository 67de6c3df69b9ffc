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

/** Adds the options for node access. `said`: suffix of each description, by attribute name. */
export function addNodeOptions(
  command: Command,
  said: string | ((name: (typeof NODE_OPTIONS)[number]) => string) = '',
): Command {
  const when = (name: (typeof NODE_OPTIONS)[number]) =>
    typeof said === 'string' ? said : said(name);
  return command
    .addOption(
      new Option('--transport <transport>', `how nodes are reached${when('transport')}`)
        .choices([...TRANSPORTS])
        .default('ssh'),
    )
    .option(
      '--local-node <name,...>',
      `nodes that this machine is (with --transport local)${when('localNode')}`,
      nodeNames,
      [],
    )
    .option(
      '--ssh-config <file>',
      `configuration of ssh (default: ~/.ssh/config)${when('sshConfig')}`,
    )
    .option(
      '--ssh-guard',
      `nodes have salt/ssh_guard.py as the forced command of ssh${when('sshGuard')}`,
    )
    .option(
      '--salt-url <url>',
      `salt-api, such as https://salt:8000 (with --transport salt)${when('saltUrl')}`,
      oneText,
    )
    .option(
      '--salt-eauth <name>',
      `how salt-api checks the secret (default: sharedsecret)${when('saltEauth')}`,
      oneText,
    )
    .option(
      '--salt-user <name>',
      `account of salt-api (default: stowage)${when('saltUser')}`,
      oneText,
    )
    .option(
      '--salt-secret-file <file>',
      `its password, shared secret or token${when('saltSecretFile')}`,
      oneText,
    )
    .option(
      '--salt-ca-file <file>',
      `certificates that may have signed salt-api's (PEM)${when('saltCaFile')}`,
      oneText,
    )
    .option(
      '--config <file>',
      `settings of nodes and transports; flags and $STOWAGE_… go before it${when('config')}`,
      oneText,
    );
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
  command.error(`error: ${flag} goes with ${unless}`);
}
