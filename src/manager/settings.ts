import { StowageError } from '../api/errors.ts';
import type { SaltAccess } from '../nodes/transport/salt/access.ts';
import type { SshAddress } from '../nodes/transport/ssh-shell.ts';
import type { Transport } from '../nodes/transport/transport.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';

/** How nodes are reached, and worked on. */
export interface Settings {
  transport: Transport;
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig: string | undefined;
  /** Nodes let ssh do nothing but Stowage's forced command; for `ssh` only. */
  sshGuard?: boolean;
  /** For `salt`, and only there. */
  salt: SaltAccess | undefined;
  /** Volumes of one node that are worked on at once. */
  workers: number;
  retry: BackoffRange;
  /** Where nodes are reached, whatever their objects say. */
  addresses: ReadonlyMap<string, SshAddress>;
  /** Ids of Salt minions, whatever their objects say. */
  minions: ReadonlyMap<string, string>;
}

export interface LiveSettings {
  now(): Settings;
  /** Throws a StowageError for what a running daemon cannot take over, and has taken nothing then. */
  replace(next: Settings): void;
  /** Those of the moment in which it is looked at. */
  retry: BackoffRange;
  addressOf(node: string): SshAddress;
  minionOf(node: string): string | undefined;
}

export function createLiveSettings(first: Settings): LiveSettings {
  let settings = first;
  const fixed = ({ transport, localNodes, sshGuard = false, salt }: Settings) =>
    JSON.stringify([transport, localNodes, sshGuard, salt]);
  return {
    now: () => settings,
    replace(next) {
      if (fixed(next) !== fixed(settings)) {
        throw new StowageError(
          'usage',
          'transport, localNode, sshGuard or what salt-api is are other ones now',
          {
            hint: 'Restart the daemon to have it use them.',
          },
        );
      }
      settings = next;
    },
    retry: {
      get startMs() {
        return settings.retry.startMs;
      },
      get maxMs() {
        return settings.retry.maxMs;
      },
    },
    minionOf: (node) => settings.minions.get(node),
    addressOf: (node) => ({
      ...(settings.sshConfig !== undefined && { configFile: settings.sshConfig }),
      ...settings.addresses.get(node),
    }),
  };
}
