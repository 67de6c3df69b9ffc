import { StowageError } from '../../../api/errors.ts';
import type { SshAddress } from '../../../nodes/transport/ssh-shell.ts';
import { saltOf } from '../nodes/salt.ts';
import type { ConfigFile } from './file.ts';

/** All of a file but its nodes can be given otherwise, too. */
export type Given = Omit<ConfigFile, 'nodes'>;

export type ResolvedConfig = ReturnType<typeof resolveConfig>;

/**
 * What holds where a file says this: `given` (by flags and environment) goes before it, `defaults` after. Throws a
 * StowageError for what makes no sense together.
 */
export function resolveConfig(defaults: Given, file: ConfigFile, given: Given) {
  const {
    transport = 'ssh',
    localNode = [],
    sshConfig,
    sshGuard = false,
    workers = 1,
    ...rest
  } = { ...defaults, ...file, ...given };
  const salt = saltOf({ transport, ...rest });
  const {
    retryIntervalStart: startMs = 0,
    retryIntervalMax: maxMs = 0,
    nodes = new Map(),
  } = rest as ConfigFile;
  if ((transport === 'local') !== localNode.length > 0) {
    throw new StowageError('usage', '--transport local and --local-node go together');
  }
  if (startMs > maxMs) {
    throw new StowageError('usage', '--retry-interval-start is longer than --retry-interval-max');
  }
  const addresses = [...nodes].map(([name, { address, port }]): [string, SshAddress] => [
    name,
    { ...(address !== undefined && { host: address }), ...(port !== undefined && { port }) },
  ]);
  const minions = [...nodes].flatMap(([name, { minion }]) =>
    minion === undefined ? [] : [[name, minion] as const],
  );
  return {
    transport,
    localNodes: localNode,
    sshConfig,
    sshGuard,
    salt,
    workers,
    retry: { startMs, maxMs },
    addresses: new Map(addresses),
    minions: new Map(minions),
  };
}
