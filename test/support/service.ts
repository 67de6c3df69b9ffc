import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition } from '../../src/api/volume.ts';

/** Status written by the daemon, from its log. */
export interface Status {
  /** Milliseconds since the epoch. */
  time: number;
  volume: string;
  phase?: string;
  job?: string;
  ready?: Condition;
}

/** Built `stowage watch`, run as under systemd: restarted one second after it ends. */
export interface Service {
  starts(): number;
  signal(name: NodeJS.Signals): void;
  statuses(): Promise<Status[]>;
  /** Returns the end of the log. */
  log(): Promise<string>;
  /**
   * Sends SIGTERM and waits for the end.
   * @returns the exit status
   */
  stop(): Promise<number | null>;
}

const BETWEEN_STARTS = 1000;

/** @param folder directory of the log */
export function startService(
  kubeconfig: string,
  flags: readonly string[],
  folder: string,
): Service {
  const file = join(folder, 'watch.log');
  const stopping = new AbortController();
  let daemon: ChildProcess | undefined;
  let starts = 0;

  async function run(): Promise<number | null> {
    for (;;) {
      starts += 1;
      const log = openSync(file, 'a');
      // The daemon ends with this process, however that ends.
      daemon = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'bin/stowage', 'watch', ...flags], {
        env: { ...process.env, KUBECONFIG: kubeconfig },
        stdio: ['ignore', 'ignore', log],
      });
      closeSync(log);
      const [exit] = await once(daemon, 'exit');
      await sleep(BETWEEN_STARTS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return exit;
    }
  }

  const running = run();
  const lines = async () => (await readFile(file, 'utf8')).trim().split('\n');
  return {
    starts: () => starts,
    signal: (name) => void daemon?.kill(name),
    async statuses() {
      // Its last message, for people, is no JSON.
      const told = (await lines()).filter((line) => line.startsWith('{'));
      return told
        .map((line) => JSON.parse(line) as Status & { msg: string })
        .filter(({ msg }) => msg === 'status');
    },
    log: async () => (await lines()).slice(-60).join('\n'),
    async stop() {
      stopping.abort();
      daemon?.kill('SIGTERM');
      return running;
    },
  };
}
