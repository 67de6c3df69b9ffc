import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { Lease } from '../../src/api/core.ts';
import { LEASES, VOLUMES } from '../../src/api/resources.ts';
import { sparseVolume, startCluster } from '../support/cluster.ts';
import { bundleElectingDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import type { ElectingWatchOptions } from '../support/electing-watch.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

/** Two daemons, processes of their own, over one cluster and the same nodes. */

let program: DaemonProgram<ElectingWatchOptions>;
beforeAll(async () => {
  program = await bundleElectingDaemon();
}, 60_000);
afterAll(() => program.remove());

const TIMING = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 300 };
const LONG = 60_000;

interface Message extends Record<string, unknown> {
  pid: number;
  msg: string;
}

interface World {
  start(more?: Pick<ElectingWatchOptions, 'stopIn'>): Daemon;
  /** What a daemon logged itself, as soon as there is a line with that message. */
  says(daemon: Daemon, message: string): Promise<Message[]>;
  create(...names: string[]): Promise<void>;
  /** Waits until a process holds the Lease that did not hold it before. */
  leads(before?: string): Promise<string>;
  /** The log so far, as `[pid, what]`. */
  log(): Promise<[number, string][]>;
  /** Waits until a daemon has submitted so many jobs. */
  submitted(daemon: Daemon, count: number): Promise<void>;
  /** No job was submitted twice, and so many were. */
  eachOnce(count: number): Promise<void>;
}

async function inWorld(timing: ElectingWatchOptions['timing'], play: (world: World) => Promise<void>) {
  const cluster = await startCluster();
  const folder = await temporaryFolder('election');
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
    start(more = {}) {
      const daemon = program.start({ kubeconfig: cluster.kubeconfig, timing, jobs, log, messages, ...more });
      daemons.push(daemon);
      return daemon;
    },
    says: ({ process: { pid } }, message) =>
      until(`${pid} says: ${message}`, 20_000, async () => {
        const lines = (await readFile(messages, 'utf8')).split('\n').slice(0, -1);
        const own = lines.map((line) => JSON.parse(line) as Message).filter((line) => line.pid === pid);
        return own.some(({ msg }) => msg === message) ? own : undefined;
      }),
    async create(...names) {
      for (const name of names) await cluster.client.create(VOLUMES, sparseVolume(name, 'n1', '32Mi'));
    },
    leads: (before) =>
      until('another process leads', 30_000, async () => {
        const lease = await cluster.client
          .get<Lease>(LEASES, 'stowage', { namespace: 'default' })
          .catch(() => undefined);
        const holder = lease?.spec?.holderIdentity || undefined;
        return holder === before ? undefined : holder;
      }),
    log: readLog,
    submitted: ({ process: { pid } }, count) =>
      until(`${count} jobs of ${pid}`, 20_000, async () =>
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
    // Whatever went wrong: no secret is in the log.
    const [, token = ''] = /token: *["']?([^\s"']+)/.exec(await readFile(cluster.kubeconfig, 'utf8')) ?? [];
    expect(token).not.toBe('');
    expect(await readFile(messages, 'utf8')).not.toContain(token);
  } finally {
    for (const { process } of daemons) process.kill('SIGKILL');
    await Promise.all(daemons.map(({ ended }) => ended));
    await cluster.stop();
    await folder.remove();
  }
}

test.concurrent(
  'a leader is killed: the follower waits the Lease out, goes on with what runs, and submits no job twice',
  () =>
    inWorld(TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
      const first = start();
      const holder = await leads();
      const second = start();
      await create('a', 'b');
      await submitted(first, 2);
      expect((await log()).filter(([pid]) => pid === second.process.pid)).toEqual([]);
      first.process.kill('SIGKILL');
      await create('c');
      await leads(holder);
      await submitted(second, 1);
      await until('the second looks after all of them', 10_000, async () =>
        (await log()).some(([pid, what]) => pid === second.process.pid && what === 'poll') ? true : undefined,
      );
      await eachOnce(3);
    }),
  LONG,
);

const isStopped = async ({ process: { pid } }: Daemon) =>
  until(`${pid} is stopped`, 20_000, async () =>
    / \(.*\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8')) ? true : undefined,
  );

test.concurrent.each(['poll', 'submit', 'renewal'] as const)(
  'a leader is stopped in a %s for longer than its Lease: it does nothing at all when it wakes up, and ends',
  (stopIn) =>
    inWorld(TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
      const first = start({ stopIn });
      const holder = await leads();
      const second = start();
      await create('a');
      await isStopped(first);
      // It will hear of these when it wakes up.
      await create('b', 'c');
      await leads(holder);
      // The first may have been stopped before it submitted any.
      await submitted(second, (await log()).some(([, what]) => what.startsWith('submit ')) ? 2 : 3);
      const before = (await log()).filter(([pid]) => pid === first.process.pid);
      first.process.kill('SIGCONT');
      expect(await first.ended).toBe('1');
      expect((await log()).filter(([pid]) => pid === first.process.pid)).toEqual(before);
      await eachOnce(3);
    }),
  LONG,
);

test.concurrent(
  'a leader is cut off from the API server: it leaves the nodes alone before the follower begins, and ends',
  () =>
    inWorld(TIMING, async ({ start, create, leads, submitted, eachOnce, log }) => {
      const first = start();
      const holder = await leads();
      const second = start();
      await create('a', 'b');
      await submitted(first, 2);
      first.process.kill('SIGUSR2');
      await create('c');
      await leads(holder);
      expect(await first.ended).toBe('1');
      await submitted(second, 1);
      await eachOnce(3);
      const pids = (await log()).map(([pid]) => pid);
      expect(pids.lastIndexOf(first.process.pid ?? 0)).toBeLessThan(pids.indexOf(second.process.pid ?? 0));
    }),
  LONG,
);

test.concurrent(
  'a leader is told to end: it releases the Lease and exits with 0, and the follower takes over at once',
  () =>
    inWorld(
      // Waited out, it would take longer than this test.
      { leaseDurationMs: 600_000, renewDeadlineMs: 300_000, retryPeriodMs: 100_000 },
      async ({ start, create, leads, says, submitted, eachOnce, log }) => {
        const first = start();
        const holder = await leads();
        const second = start();
        await create('a', 'b');
        await submitted(first, 2);
        await says(second, 'standing by for the leader');
        first.process.kill('SIGTERM');
        expect(await first.ended).toBe('0');
        await create('c');
        await leads(holder);
        await submitted(second, 1);
        await eachOnce(3);
        const writes = (await log()).filter(([pid]) => pid === first.process.pid);
        expect(writes.at(-1)?.[1]).toMatch(/^PATCH .*\/leases\/stowage/);
      },
    ),
  LONG,
);

test.concurrent(
  'leader and follower are ready; each line of a reconcile has its id, and those of a Volume its job',
  () =>
    inWorld(TIMING, async ({ start, create, leads, says, submitted }) => {
      const first = start();
      await leads();
      const second = start();
      for (const daemon of [first, second]) {
        const serving = (await says(daemon, 'serving HTTP')).find(({ msg }) => msg === 'serving HTTP');
        const ask = async (path: string) => {
          const { statusCode, body } = await request(`http://127.0.0.1:${serving?.port}${path}`);
          return `${statusCode} ${await body.text()}`;
        };
        expect(await ask('/healthz')).toBe('200 ok\n');
        const answer = await until('it is ready', 10_000, async () => {
          const text = await ask('/readyz');
          return text.startsWith('200') ? text : undefined;
        });
        for (const source of ['nodes', 'volumes', 'persistentvolumes', 'storageclasses', 'lease']) {
          expect(answer).toContain(`[+]${source} ok`);
        }
      }
      await create('a');
      await submitted(first, 1);
      const told = (await says(first, 'status')).filter(({ volume }) => volume === 'a');
      expect(told[0]).toMatchObject({ phase: 'Pending', job: 'PrepareVolume/1', uid: expect.any(String) });
      expect(told[0]?.reconcile).toMatch(/^[0-9a-f]{8}$/);
      expect((await says(second, 'standing by for the leader')).map(({ msg }) => msg)).not.toContain(
        'watching',
      );
    }),
  LONG,
);
