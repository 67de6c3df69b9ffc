import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Lease } from '../../src/api/core.ts';
import { LEASES, VOLUMES } from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { sparseVolume, startCluster } from './cluster.ts';
import type { Daemon, DaemonProgram } from './daemon.ts';
import type { ElectingWatchOptions } from './electing-watch.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { until } from './until.ts';

/**
 * Timing for daemons that compete for one Lease. Tests wait until the Lease expires, so it is
 * short. It is not shorter, as a leader on a busy machine must renew it in time.
 */
export const TIMING = { leaseDurationMs: 20_000, renewDeadlineMs: 15_000, retryPeriodMs: 300 };

interface Message extends Record<string, unknown> {
  pid: number;
  msg: string;
}

export interface World {
  client: KubeClient;
  start(more?: Pick<ElectingWatchOptions, 'stopIn'>): Daemon;
  /** Returns the log of a daemon, once it has a line with that message. */
  says(daemon: Daemon, message: string): Promise<Message[]>;
  create(...names: string[]): Promise<void>;
  /** Waits until another process than `before` holds the Lease. */
  leads(before?: string): Promise<string>;
  /** Returns the shared log so far, as `[pid, what]`. */
  log(): Promise<[number, string][]>;
  /** Waits until a daemon has submitted that many jobs. */
  submitted(daemon: Daemon, count: number): Promise<void>;
  /** Checks that no job was submitted twice, and the number of jobs. */
  eachOnce(count: number): Promise<void>;
}

/**
 * Runs `play` with daemons in their own processes, over one cluster and the same nodes. Kills the
 * daemons afterwards.
 */
export async function inWorld(
  program: DaemonProgram<ElectingWatchOptions>,
  timing: ElectingWatchOptions['timing'],
  play: (world: World) => Promise<void>,
): Promise<void> {
  const cluster = await startCluster({ nodes: ['n1'] });
  const folder = await temporaryDirectory('election');
  const daemons: Daemon[] = [];
  const log = join(folder.path, 'log');
  const jobs = join(folder.path, 'jobs');
  const messages = join(folder.path, 'messages');
  await mkdir(jobs);
  await writeFile(log, '');
  const readLog = async () =>
    (await readFile(log, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line): [number, string] => [Number.parseInt(line, 10), line.replace(/^[0-9]+ /, '')]);
  const submits = async () => (await readLog()).filter(([, what]) => what.startsWith('submit '));
  const world: World = {
    client: cluster.client,
    start(more = {}) {
      const daemon = program.start({
        kubeconfig: cluster.kubeconfig,
        timing,
        jobs,
        log,
        messages,
        ...more,
      });
      daemons.push(daemon);
      return daemon;
    },
    says: ({ process: { pid } }, message) =>
      until(`${pid} says: ${message}`, async () => {
        const lines = (await readFile(messages, 'utf8')).split('\n').slice(0, -1);
        const own = lines
          .map((line) => JSON.parse(line) as Message)
          .filter((line) => line.pid === pid);
        return own.some(({ msg }) => msg === message) ? own : undefined;
      }),
    async create(...names) {
      for (const name of names)
        await cluster.client.create(VOLUMES, sparseVolume(name, 'n1', '32Mi'));
    },
    leads: (before) =>
      until('another process leads', async () => {
        const lease = await cluster.client
          .get<Lease>(LEASES, 'stowage', { namespace: 'default' })
          .catch(() => undefined);
        const holder = lease?.spec?.holderIdentity || undefined;
        return holder === before ? undefined : holder;
      }),
    log: readLog,
    submitted: ({ process: { pid } }, count) =>
      until(`${count} jobs of ${pid}`, async () =>
        (await submits()).filter(([by]) => by === pid).length >= count ? true : undefined,
      ).then(() => {}),
    async eachOnce(count) {
      const keys = (await submits()).map(([, what]) => what);
      expect(new Set(keys).size).toBe(count);
      expect(keys).toHaveLength(count);
    },
  };
  try {
    await play(world);
    // In any case, no secret is in the log.
    const [, token = ''] =
      /token: *["']?([^\s"']+)/.exec(await readFile(cluster.kubeconfig, 'utf8')) ?? [];
    expect(token).not.toBe('');
    expect(await readFile(messages, 'utf8')).not.toContain(token);
  } finally {
    for (const { process } of daemons) process.kill('SIGKILL');
    await Promise.all(daemons.map(({ ended }) => ended));
    await cluster.stop();
    await folder.remove();
  }
}
