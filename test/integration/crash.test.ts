import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { sparseVolume, startCluster, type TestCluster } from '../support/cluster.ts';
import type { CrashingWatchOptions } from '../support/crashing-watch.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';
import { type Crash, makeWrappers, type Wrappers } from '../support/wrappers.ts';

/** What a crash may cost at the most, in ms. */
const CONVERGES_WITHIN = 180_000;

/** All that a step or a guard calls. */
const PROGRAMS = [
  ...['mkfs.ext4', 'losetup', 'dd', 'mv', 'sync', 'truncate', 'rm', 'install', 'mkdir', 'udevadm'],
  ...['test', 'blkid', 'find'],
];

describeAsRoot('a volume from create to delete, killed at every boundary', () => {
  let cluster: TestCluster;
  let program: DaemonProgram;
  let wrappers: Wrappers;
  let sshd: Sshd;
  let stopUdev: () => Promise<void>;
  let folder: { path: string; remove(): Promise<void> };
  let serial = 0;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    wrappers = await makeWrappers({ programs: PROGRAMS });
    sshd = await startSshd({ nodes: ['n1'], env: { PATH: wrappers.path } });
    cluster = await startCluster();
    program = await bundleDaemon();
    folder = await temporaryFolder('crash');
  }, 60_000);

  afterAll(async () => {
    await program?.remove();
    await cluster?.stop();
    await sshd?.stop();
    await wrappers?.remove();
    await stopUdev?.();
    await folder?.remove();
  }, 60_000);

  interface Run {
    /** Where the daemon crashes; 0: nowhere. */
    effect?: number;
    when?: 'before' | 'after';
    /** Its connections are killed instead of itself. */
    cut?: boolean;
    /** What is killed on the node: while the volume is made, or while it is removed. */
    job?: { during: 'create' | 'delete'; crash: Crash };
    size?: string;
  }

  /** One volume's life. Whatever is killed, both ends are reached, and nothing is left. Returns the effects. */
  async function live({ effect = 0, when = 'before', cut, job, size = '64Mi' }: Run): Promise<string[]> {
    const name = `crash-${++serial}`;
    const log = join(folder.path, name);
    const options: CrashingWatchOptions = {
      kubeconfig: cluster.kubeconfig,
      transport: 'ssh',
      nodes: ['n1'],
      sshConfig: sshd.configFile,
      log,
      effect,
      when,
      ...(cut ? { cut: sshd.pid } : {}),
    };
    const callsBefore = (await wrappers.calls()).length;
    const calls = async () => (await wrappers.calls()).slice(callsBefore);
    if (job?.during === 'create') await wrappers.crash(job.crash);
    let daemon = program.start(options);
    try {
      const created = await cluster.client.create(VOLUMES, sparseVolume(name, 'n1', size));
      const uid = created.metadata.uid ?? '';
      const file = `/var/lib/metalk8s/storage/sparse/${uid}`;

      const available = await until(`${name} Available`, CONVERGES_WITHIN, async () => {
        daemon = await restarted(daemon, options);
        const volume = await cluster.client.get<Volume>(VOLUMES, name);
        if (volume.status?.phase === 'Failed') throw new Error(JSON.stringify(volume.status));
        return volume.status?.phase === 'Available' ? volume : undefined;
      });
      expect(available.status?.deviceName).toMatch(/^loop\d+$/);
      expect(await leftovers({ expected: [{ uid, file, loop: true }], client: cluster.client })).toEqual([]);
      const done = (await stat(`/var/lib/stowage/volumes/${uid}.done`)).mtimeMs;
      const late = (await calls()).filter((call) => call.program === 'mkfs.ext4' && call.time > done);
      expect(late).toEqual([]);

      const before = await calls();
      if (job?.during === 'delete') await wrappers.crash(job.crash);
      await cluster.client.delete(VOLUMES, name);
      await until(`${name} gone`, CONVERGES_WITHIN, async () => {
        daemon = await restarted(daemon, options);
        return cluster.client.get<Volume>(VOLUMES, name).then(
          () => undefined,
          (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
        );
      });
      const after = (await calls()).slice(before.length);
      expect(after.filter(({ program }) => program === 'mkfs.ext4')).toEqual([]);
      await daemon.stop();
      expect(await leftovers({ uids: [uid], client: cluster.client })).toEqual([]);
    } finally {
      daemon.process.kill('SIGKILL');
      await daemon.ended;
    }
    return (await readFile(log, 'utf8')).trim().split('\n');
  }

  /** A daemon that was killed is followed by one that does not crash. */
  async function restarted(daemon: Daemon, options: CrashingWatchOptions): Promise<Daemon> {
    if (daemon.process.exitCode === null && daemon.process.signalCode === null) return daemon;
    expect(await daemon.ended).toBe('SIGKILL');
    return program.start({ ...options, effect: 0 });
  }

  test('the daemon, before and after every effect', async () => {
    const effects = await live({});
    for (const when of ['before', 'after'] as const) {
      for (let effect = 1; effect <= effects.length; effect++) await live({ effect, when });
    }
    console.info(
      `the daemon was killed at ${effects.length} effects, before and after: ${effects.join(' ')}`,
    );
  }, 900_000);

  test('the connection, before and in every call to the node', async () => {
    const effects = await live({});
    const calls = effects.flatMap((name, index) => (name.startsWith('node.') ? [index + 1] : []));
    for (const when of ['before', 'after'] as const) {
      for (const effect of calls) await live({ effect, when, cut: true });
    }
    console.info(`the connection was killed at ${calls.length} calls, before and in each`);
  }, 900_000);

  test('the job, before and after every program that it runs', async () => {
    const start = (await wrappers.calls()).length;
    await live({});
    const calls = (await wrappers.calls()).slice(start);
    // Observations call some of these programs, too: to kill the shell of one of them is a case of its own.
    for (const at of ['before', 'after'] as const) {
      for (let call = 1; call <= calls.length; call++) {
        await live({ job: { during: 'create', crash: { program: '*', call, at } } });
      }
    }
    console.info(`the job was killed at ${calls.length} programs, before and after each`);
  }, 900_000);

  test('the job, inside mkfs', async () => {
    for (const ms of [0, 1, 2, 4, 8, 16, 32]) {
      await live({
        size: '200Gi',
        job: { during: 'create', crash: { program: 'mkfs.ext4', call: 1, at: 'inside', ms } },
      });
    }
  }, 300_000);
});
