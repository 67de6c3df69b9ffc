import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Condition } from '../../../src/api/volume.ts';

/** A status that the daemon wrote, as its log tells it. */
export interface Status {
  /** ms since the epoch. */
  time: number;
  volume: string;
  phase?: string;
  job?: string;
  ready?: Condition;
}

export interface Watch {
  /** All statuses that it has written so far. */
  statuses(): Promise<Status[]>;
  /** The end of its log. */
  log(): Promise<string>;
  /** SIGTERM, and waits for its end. @returns its exit status */
  stop(): Promise<number | null>;
}

/** `stowage watch` over ssh, from the build; its log is in `folder`. */
export function startWatch(kubeconfig: string, sshConfig: string, folder: string): Watch {
  const file = join(folder, 'watch.log');
  const to = openSync(file, 'a');
  // It ends with this process, in whatever way that ends.
  const argv = ['--pdeathsig', 'KILL', '--', 'bin/stowage', 'watch', '--ssh-config', sshConfig];
  const daemon = spawn('setpriv', argv, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', to],
  });
  const ended = once(daemon, 'exit');
  closeSync(to);
  const lines = async () => (await readFile(file, 'utf8')).trim().split('\n');
  return {
    async statuses() {
      const all = (await lines()).map((line) => JSON.parse(line) as Status & { msg: string });
      return all.filter(({ msg }) => msg === 'status');
    },
    log: async () => (await lines()).slice(-40).join('\n'),
    async stop() {
      daemon.kill('SIGTERM');
      const [exit] = await ended;
      return exit;
    },
  };
}
