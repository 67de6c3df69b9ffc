import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ALL_CRDS } from '../../src/api/crds.ts';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUMES } from '../../src/api/resources.ts';
import type { VolumeSnapshotContent } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import {
  claimsOf,
  createClass,
  createNode,
  createSnapshotClass,
} from '../support/claim-objects.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import { type OwnFileSystem, ownFileSystem, startWriter } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { cutConnections, type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** `npm run test:faults` has the time for all cases. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const namespace = 'default';

/**
 * Snapshots of a mounted volume through all parts: a daemon as a process, sshd, and a job on this
 * machine.
 */
describeAsRoot('a snapshot of a volume that a pod writes to', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sshd: Sshd;
  let cluster: TestCluster;
  let claims: ReturnType<typeof claimsOf>;
  let program: DaemonProgram;
  let daemon: Daemon;
  let mount: string;
  let volumeUid: string;
  let serial = 0;
  /** Path of a file. While it exists, a copy exceeds the maximum duration of a freeze. */
  let slow: string;
  /** Path of a file that exists once a copy has begun. */
  let begun: string;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    disk = await ownFileSystem('xfs', 2n << 30n);
    folder = await temporaryDirectory('freeze-daemon');
    slow = join(folder.path, 'slow');
    begun = join(folder.path, 'begun');
    const bin = join(folder.path, 'bin');
    await mkdir(bin);
    // The trial clone before the freeze has no `dir`.
    const cp = `#!/bin/sh\nPATH=$\{PATH#*:}\n[ -z "$dir" ] || [ ! -e ${slow} ] || { touch ${begun}; exec sleep 60; }\nexec cp "$@"\n`;
    await writeFile(join(bin, 'cp'), cp);
    await chmod(join(bin, 'cp'), 0o755);
    sshd = await startSshd({
      nodes: ['n1'],
      env: { PATH: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin` },
    });
    cluster = await startCluster({ crds: ALL_CRDS });
    const { client } = cluster;
    claims = claimsOf(client, { storageClassName: 'fast', size: '64Mi' });
    await createNode(client, 'n1');
    await createClass(client, 'fast', join(disk.path, 'volumes'), 'ext4');
    await createSnapshotClass(client, 'fast');
    program = await bundleDaemon();
    daemon = start();
    await claims.create(`${namespace}/data`);
    const { metadata } = await claims.isBound(`${namespace}/data`);
    volumeUid = (await client.get<Volume>(VOLUMES, metadata.name)).metadata.uid ?? '';
    mount = join(folder.path, 'mnt');
    await mkdir(mount);
    await execa('mount', [`/dev/disk/by-id/stowage-${volumeUid}`, mount]);
    await writeFile(join(mount, 'data'), 'of before');
  });

  afterAll(async () => {
    await execa('umount', [mount], { reject: false });
    try {
      await claims.remove(`${namespace}/data`);
      await until('the claim is reclaimed', async () =>
        (await cluster.client.list(VOLUMES)).items.length === 0 ? true : undefined,
      );
    } finally {
      await daemon?.stop();
      await program?.remove();
      await cluster?.stop();
      await sshd?.stop();
      await disk?.remove();
      await folder?.remove();
      await stopUdev?.();
    }
  });

  beforeEach(async () => {
    await rm(begun, { force: true });
    await writeFile(slow, '');
  });
  afterEach(async () => {
    await execa('fsfreeze', ['-u', mount], { reject: false });
    await claims.removeSnapshot(`${namespace}/backup-${serial}`);
    await until('the copy is gone', async () =>
      (await readdir(join(disk.path, 'volumes', 'snapshots'))).length === 0 ? true : undefined,
    );
  });

  const start = () =>
    program.start({
      ...{
        kubeconfig: cluster.kubeconfig,
        transport: 'ssh',
        nodes: ['n1'],
        sshConfig: sshd.configFile,
      },
      ...{ log: join(folder.path, 'effects'), effect: 0, when: 'before' },
    });

  /** Returns the PID of the job's shell, which leads a process group. */
  async function jobShell(): Promise<number> {
    for (const pid of await readdir('/proc')) {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      const [shell, script = ''] = words;
      if (shell === 'sh' && script.startsWith(`/run/stowage/jobs/${volumeUid}/`))
        return Number(pid);
    }
    throw new Error(`no job of ${volumeUid} runs`);
  }

  const signalled = (signal: NodeJS.Signals, group: boolean) => async () => {
    const pid = (await jobShell()) * (group ? -1 : 1);
    process.kill(pid, signal);
    return signal === 'SIGSTOP' ? () => process.kill(pid, 'SIGCONT') : undefined;
  };
  const killDaemon = async () => {
    daemon.process.kill('SIGKILL');
    await daemon.ended;
    return () => {
      daemon = start();
    };
  };

  interface Fault {
    /** Causes the fault. Returns a function that ends it, if it does not end by itself. */
    strike(): Promise<undefined | (() => unknown)>;
    /** Set if the fault also ends the copy: the file system is then thawed immediately. */
    thaws?: true;
    /** Set if the case also runs when time is limited. */
    always?: true;
  }
  const FAULTS: [string, Fault][] = [
    ['by a job whose shell is killed', { strike: signalled('SIGKILL', false) }],
    ['by a job that is killed as a whole', { strike: signalled('SIGKILL', true), thaws: true }],
    ['by a job whose shell is stopped', { strike: signalled('SIGSTOP', false) }],
    ['by a job that is stopped as a whole', { strike: signalled('SIGSTOP', true), always: true }],
    [
      'over a connection that is cut',
      { strike: async () => void (await cutConnections(sshd.pid)), always: true },
    ],
    ['by a daemon that is killed', { strike: killDaemon }],
    [
      'by a daemon that is stopped',
      {
        async strike() {
          daemon.process.kill('SIGSTOP');
          return () => daemon.process.kill('SIGCONT');
        },
      },
    ],
    [
      'by a daemon that is killed with its connection and the job',
      {
        async strike() {
          const end = await killDaemon();
          await cutConnections(sshd.pid);
          process.kill(-(await jobShell()), 'SIGKILL');
          return end;
        },
        thaws: true,
        always: true,
      },
    ],
  ];

  test.each(FAULTS.filter(([, { always }]) => MANY || always))(
    'is taken %s: writes resume within 10 s, and exactly one complete snapshot results',
    async (_, { strike, thaws }) => {
      const name = `backup-${++serial}`;
      const writer = await startWriter(join(mount, `written-${serial}`));
      await claims.createSnapshot(`${namespace}/${name}`, 'data', 'fast');
      await until('freeze and copy have begun', async () => (existsSync(begun) ? true : undefined));
      const end = await strike();
      // Blocks until the file system is thawed.
      await execa('touch', [join(mount, 'touched')]);
      await rm(slow);
      const gap = await writer.stop();
      await end?.();

      const ready = await claims.isReady(`${namespace}/${name}`);
      const content = await cluster.client.get<VolumeSnapshotContent>(
        VOLUME_SNAPSHOT_CONTENTS,
        ready.status?.boundVolumeSnapshotContentName ?? '',
      );
      const { uid = '' } = content.metadata;
      const snapshots = join(disk.path, 'volumes', 'snapshots');
      await until('the record of the freeze is gone', async () =>
        existsSync(`/run/stowage/freezes/${uid}.partial`) ? undefined : true,
      );
      expect(await readdir(snapshots)).toEqual([uid]);
      const copy = join(snapshots, uid);
      expect((await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', copy])).stdout).toBe(uid);
      expect((await execa('debugfs', ['-R', 'cat /data', copy])).stdout).toBe('of before');
      expect((await execa('e2fsck', ['-f', '-n', copy])).exitCode).toBe(0);
      // Proves that it was frozen.
      if (!thaws) expect(gap).toBeGreaterThan(1000);
      expect(gap).toBeLessThan(10_000);
      console.info(`no write for ${Math.round(gap)} ms`);
    },
  );
});
