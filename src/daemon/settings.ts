import { StowageError } from '../api/errors.ts';
import type { BackoffRange } from '../control/backoff.ts';
import type { SshAddress } from '../nodes/ssh-shell.ts';

/** How nodes are reached, and worked on. */
export interface Settings {
  transport: 'ssh' | 'local';
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig: string | undefined;
  /** Volumes of one node that are worked on at once. */
  workers: number;
  retry: BackoffRange;
  /** Where nodes are reached, whatever their objects say. */
  addresses: ReadonlyMap<string, SshAddress>;
}

export interface LiveSettings {
  now(): Settings;
  /** Throws a StowageError for what a running daemon cannot take over, and has taken nothing then. */
  replace(next: Settings): void;
  /** Those of the moment in which it is looked at. */
  retry: BackoffRange;
  addressOf(node: string): SshAddress;
}

export function createLiveSettings(first: Settings): LiveSettings {
  let settings = first;
  const fixed = ({ transport, localNodes }: Settings) => [transport, ...localNodes].join();
  return {
    now: () => settings,
    replace(next) {
      if (fixed(next) !== fixed(settings)) {
        throw new StowageError('usage', 'transport and localNode are other ones now', {
          hint: 'Restart the daemon to have it use them.',
        });
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
    addressOf: (node) => ({
      ...(settings.sshConfig !== undefined && { configFile: settings.sshConfig }),
      ...settings.addresses.get(node),
    }),
  };
}
