import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Condition } from '../../src/api/volume.ts';

/** A status that the daemon wrote, as its log tells it. */
export interface Status {
  /** ms since the epoch. */
  time: number;
  volume: string;
  phase?: string;
  job?: string;
  ready?: Condition;
}

/** `stowage watch` from the build, run as systemd runs it: started again a second after it ended. */
export interface Service {
  /** How often it was started. */
  starts(): number;
  /** To the process that runs now. */
  signal(name: NodeJS.Signals): void;
  /** All statuses that it has written so far. */
  statuses(): Promise<Status[]>;
  /** The end of its log. */
  log(): Promise<string>;
  /** SIGTERM, and waits for its end. @returns its exit status */
  stop(): Promise<number | null>;
}

const BETWEEN_STARTS = 1000;

/** `folder` is where its log goes. */
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
      // It ends with this process, in whatever way that ends.
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
      // What it says when it ends is for a person.
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
