import { mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { ALL_CRDS } from '../../src/api/crds.ts';
import { NAMESPACES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import {
  claimsOf,
  createClass,
  createNode,
  createSnapshotClass,
  type Id,
} from '../support/claim-objects.ts';
import { startCluster, type TestCluster } from '../support/cluster.ts';
import { bundleDaemon, type Daemon, type DaemonProgram } from '../support/daemon.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

const MIB = 2 ** 20;
const SNAPSHOTS = Array.from({ length: 8 }, (_, nth): Id => `tenant-a/s${nth}`);

/**
 * A tenant creates snapshots, and another one writes all that its claim may use, on one small
 * file system.
 */
describeAsRoot('eight snapshots of a volume on a file system with room for one', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let sshd: Sshd;
  let cluster: TestCluster;
  let claims: ReturnType<typeof claimsOf>;
  let program: DaemonProgram;
  let daemon: Daemon;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    // This file system cannot clone files: a copy takes the volume's whole size.
    disk = await ownFileSystem('ext4', 300n << 20n);
    folder = await temporaryDirectory('snapshot-room');
    sshd = await startSshd({ nodes: ['n1'] });
    cluster = await startCluster({ crds: ALL_CRDS });
    const { client } = cluster;
    claims = claimsOf(client, { storageClassName: 'fast', size: '50Mi' });
    await createNode(client, 'n1');
    for (const name of ['tenant-a', 'tenant-b']) {
      await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await mkdir(join(disk.path, 'volumes'));
    await createClass(client, 'fast', join(disk.path, 'volumes'), 'ext4');
    await createSnapshotClass(client, 'fast');
    program = await bundleDaemon();
    daemon = await program.start({
      ...{
        kubeconfig: cluster.kubeconfig,
        transport: 'ssh',
        nodes: ['n1'],
        sshConfig: sshd.configFile,
      },
      ...{ log: join(folder.path, 'effects'), effect: 0, when: 'before' },
    });
  });

  afterAll(async () => {
    try {
      for (const id of SNAPSHOTS) await claims.removeSnapshot(id).catch(() => {});
      for (const id of ['tenant-a/data', 'tenant-b/data'] as const)
        await claims.remove(id).catch(() => {});
      await until('the claims are reclaimed', async () =>
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

  /** Creates a volume of mode Block. @returns the device */
  async function device(id: Id, size: string): Promise<string> {
    await claims.create(id, { volumeMode: 'Block', resources: { requests: { storage: size } } });
    const { metadata } = await claims.isBound(id);
    return (await cluster.client.get<Volume>(VOLUMES, metadata.name)).status?.devicePath ?? '';
  }

  const fill = (path: string, mib: number) =>
    execa('dd', [
      ...['if=/dev/urandom', `of=${path}`, 'bs=1M', `count=${mib}`, 'iflag=fullblock'],
      ...['conv=fsync,nocreat,notrunc', 'status=none'],
    ]);

  test('use neither space reserved for another claim nor the minimum free space', async () => {
    await fill(await device('tenant-a/data', '50Mi'), 48);
    const promised = await device('tenant-b/data', '100Mi');
    await Promise.all(SNAPSHOTS.map((id) => claims.createSnapshot(id, 'data', 'fast')));
    const taken = await until('each snapshot is ready or has an error', async () => {
      const all = await Promise.all(SNAPSHOTS.map((id) => claims.snapshot(id)));
      return all.every(({ status }) => status?.readyToUse || status?.error !== undefined)
        ? all
        : undefined;
    });
    const ready = taken.filter(({ status }) => status?.readyToUse);
    expect(ready).toHaveLength(1);
    for (const { status } of taken.filter((each) => !ready.includes(each))) {
      expect(status?.error?.message).toMatch(
        /: node n1 has \S+( bytes)? available in .*, and the snapshot needs \S+$/,
      );
    }
    await fill(promised, 98);
    const { bavail, bsize } = await statfs(disk.path);
    expect(bavail * bsize).toBeGreaterThan(15 * MIB);
  });
});
