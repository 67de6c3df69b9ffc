import { StowageError } from '../api/errors.ts';
import type { SaltAccess } from '../nodes/transport/salt/access.ts';
import type { SshAddress } from '../nodes/transport/ssh-shell.ts';
import type { Transport } from '../nodes/transport/transport.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';

export interface Settings {
  transport: Transport;
  /** Node names of this machine; for `local` only. */
  localNodes: readonly string[];
  /** Path that replaces ~/.ssh/config; for `ssh` only. */
  sshConfig: string | undefined;
  /** Nodes restrict ssh to Stowage's forced command; for `ssh` only. */
  sshGuard?: boolean;
  /** Set for `salt` only. */
  salt: SaltAccess | undefined;
  /** Maximum number of Volumes per node that are reconciled at once. */
  workers: number;
  retry: BackoffRange;
  /** Addresses of nodes, which override their objects. */
  addresses: ReadonlyMap<string, SshAddress>;
  /** IDs of Salt minions, which override node objects. */
  minions: ReadonlyMap<string, string>;
}

export interface LiveSettings {
  now(): Settings;
  /**
   * Replaces the settings. Throws a StowageError without any change if a running daemon cannot
   * apply them.
   */
  replace(next: Settings): void;
  /** Current values at each access. */
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
          'transport, localNode, sshGuard and the settings of salt-api cannot change while the daemon runs',
          {
            hint: 'Restart the daemon to apply them.',
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
