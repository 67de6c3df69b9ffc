import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { sparseVolume, startCluster } from './cluster.ts';
import type { CrashingWatchOptions } from './crashing-watch.ts';
import { bundleDaemon, type Daemon } from './daemon.ts';
import { makeDisk } from './disks.ts';
import { CONVERGES_WITHIN, destroys } from './faulty-life.ts';
import { type Backing, type Content, SIZE } from './kinds.ts';
import { type Expected, leftovers } from './leftovers.ts';
import { startSshd } from './sshd.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { ensureUdev } from './udev.ts';
import { until } from './until.ts';
import { type Crash, makeWrappers, type Wrappers } from './wrappers.ts';

export interface Run {
  /** Effect at which the daemon crashes; 0 for none. */
  effect?: number;
  when?: 'before' | 'after';
  /** Kills the daemon's connections instead of the daemon. */
  cut?: boolean;
  /** Process to kill on the node, while the volume is provisioned or deleted. */
  job?: { during: 'create' | 'delete'; crash: Crash };
  size?: string;
  backing?: Backing;
  content?: Content;
  onDelete?: 'Delete' | 'Wipe';
}

/** Cluster with this machine as node n1 and a daemon that can crash. */
export interface CrashingCluster {
  wrappers: Wrappers;
  /**
   * Runs a volume's life. Despite any kill, the volume is provisioned and deleted without remains.
   * @returns the effects
   */
  live(run: Run): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startCrashingCluster(programs: readonly string[]): Promise<CrashingCluster> {
  const stopUdev = await ensureUdev();
  const wrappers = await makeWrappers({ programs });
  const sshd = await startSshd({ nodes: ['n1'], env: { PATH: wrappers.path } });
  const cluster = await startCluster({ nodes: ['n1'] });
  const program = await bundleDaemon();
  const folder = await temporaryDirectory('crash');
  await cluster.client.create(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local-xfs' },
    provisioner: 'kubernetes.io/no-provisioner',
    parameters: { fsType: 'xfs' },
    reclaimPolicy: 'Retain',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  let serial = 0;

  async function live(run: Run): Promise<string[]> {
    const { backing = 'sparse file' } = run;
    const name = `crash-${++serial}`;
    if (backing === 'sparse file') return liveOn(name, run, undefined, async () => {});
    const partitioned = backing === 'partition';
    const size = partitioned ? 2n * SIZE + (2n << 20n) : SIZE;
    const disk = await makeDisk(folder.path, name, size, partitioned ? 'gpt' : 'none');
    try {
      return await liveOn(name, run, partitioned ? disk.partition : disk.path, disk.reread);
    } finally {
      await disk.remove();
    }
  }

  async function liveOn(
    name: string,
    run: Run,
    devicePath: string | undefined,
    reread: () => Promise<void>,
  ): Promise<string[]> {
    const { effect = 0, when = 'before', cut, job } = run;
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
      const created = await cluster.client.create(VOLUMES, volumeOf(name, run, devicePath));
      const uid = created.metadata.uid ?? '';
      const file = `/var/lib/metalk8s/storage/sparse/${uid}`;

      const available = await until(
        `${name} Available`,
        async () => {
          daemon = await restarted(daemon, options);
          await reread();
          const volume = await cluster.client.get<Volume>(VOLUMES, name);
          if (volume.status?.phase === 'Failed') throw new Error(JSON.stringify(volume.status));
          return volume.status?.phase === 'Available' ? volume : undefined;
        },
        CONVERGES_WITHIN,
      );
      expect(available.status?.deviceName).toMatch(/^loop\d+(p1)?$/);
      const mode = run.content === 'Block' ? 'Block' : 'Filesystem';
      const whole: Expected =
        devicePath === undefined ? { uid, mode, file, loop: true } : { uid, mode, loop: false };
      expect(await leftovers({ expected: [whole], client: cluster.client })).toEqual([]);
      const done = (await stat(`/var/lib/stowage/volumes/${uid}.done`)).mtimeMs;
      const late = (await calls()).filter((call) => destroys(call) && call.time > done);
      expect(late).toEqual([]);

      const before = await calls();
      if (job?.during === 'delete') await wrappers.crash(job.crash);
      await cluster.client.delete(VOLUMES, name);
      await until(
        `${name} gone`,
        async () => {
          daemon = await restarted(daemon, options);
          await reread();
          return cluster.client.get<Volume>(VOLUMES, name).then(
            () => undefined,
            (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
          );
        },
        CONVERGES_WITHIN,
      );
      const after = (await calls()).slice(before.length);
      expect(after.filter((call) => call.program.startsWith('mkfs.') && destroys(call))).toEqual(
        [],
      );
      await daemon.stop();
      // udev removes links of a partition once it has handled the end of it.
      let left = ['nothing was checked'];
      await until(
        'nothing left',
        async () => {
          left = await leftovers({ uids: [uid], client: cluster.client });
          return left.length === 0 ? true : undefined;
        },
        CONVERGES_WITHIN,
      ).catch(() => expect(left).toEqual([]));
    } finally {
      daemon.process.kill('SIGKILL');
      await daemon.ended;
    }
    return (await readFile(log, 'utf8')).trim().split('\n');
  }

  /** Restarts a killed daemon, without another crash. */
  async function restarted(daemon: Daemon, options: CrashingWatchOptions): Promise<Daemon> {
    if (daemon.process.exitCode === null && daemon.process.signalCode === null) return daemon;
    expect(await daemon.ended).toBe('SIGKILL');
    return program.start({ ...options, effect: 0 });
  }

  return {
    wrappers,
    live,
    async stop() {
      await program.remove();
      await cluster.stop();
      await sshd.stop();
      await wrappers.remove();
      await stopUdev();
      await folder.remove();
    },
  };
}

function volumeOf(name: string, run: Run, devicePath: string | undefined): Volume {
  // The default policy retains a device, so its cleanup could not be observed.
  const {
    content = 'ext4',
    onDelete = 'Delete',
    size = content === 'xfs' ? '304Mi' : '64Mi',
  } = run;
  const volume = sparseVolume(name, 'n1', size);
  const { sparseLoopDevice, ...raw } = volume.spec;
  return {
    ...volume,
    spec: {
      ...(devicePath === undefined ? volume.spec : { ...raw, rawBlockDevice: { devicePath } }),
      ...(content === 'xfs' ? { storageClassName: 'local-xfs' } : {}),
      ...(content === 'Block' ? { mode: 'Block' as const } : {}),
      onDelete,
    },
  };
}
