import { StowageError } from '../../../api/errors.ts';
import type { SshAddress } from '../../../nodes/transport/ssh-shell.ts';
import { saltOf } from '../nodes/salt.ts';
import type { ConfigFile } from './file.ts';

/** Settings of a file that can be given elsewhere too: all but its nodes. */
export type Given = Omit<ConfigFile, 'nodes'>;

export type ResolvedConfig = ReturnType<typeof resolveConfig>;

/**
 * Merges settings: `given`, by flags and environment, overrides the file, which overrides
 * `defaults`. Throws a StowageError for settings that contradict each other.
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
    throw new StowageError('usage', '--transport local and --local-node require each other');
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
