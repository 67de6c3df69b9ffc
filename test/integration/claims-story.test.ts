import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type {
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { VolumeSnapshot } from '../../src/api/snapshot.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { fresh, LINK, TO_LINK, TO_SNAPSHOT } from '../support/snapshots.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

/** What a failed test may have left attached. */
async function detachBelow(folder: string): Promise<void> {
  const { stdout } = await execa('losetup', ['-n', '-O', 'NAME,BACK-FILE']);
  for (const line of stdout.split('\n')) {
    const [device = '', file = ''] = line.trim().split(/\s+/);
    if (file.startsWith(`${folder}/`)) await execa('losetup', ['-d', device]);
  }
}

/** The stories of KEP-3294, with the daemon's controllers in this process, a sandbox, and real loop devices on XFS. */
describeAsRoot('a snapshot that another namespace starts from', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let cluster: ClaimsCluster;
  let controller: TestController;
  let mounts: string[];

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());

  beforeEach(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    mounts = [];
    cluster = await startClaimsCluster({ crossNamespace: true });
    const { client } = cluster;
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    await client.patch(NODES, 'n1', { status }, { subresource: 'status' });
    await client.create<StorageClass>(STORAGE_CLASSES, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
      provisioner: 'volume.stowage.dev',
      parameters: { directory: join(disk.path, 'volumes'), fsType: 'ext4' },
      volumeBindingMode: 'Immediate',
    });
    await client.create(VOLUME_SNAPSHOT_CLASSES, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: {
        name: 'fast',
        annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
      },
      driver: 'volume.stowage.dev',
      deletionPolicy: 'Delete',
    } as KubeObject);
    controller = await startController(client, {
      executor: createShellExecutor(createLocalShell(['n1'])),
      retry: { startMs: 200, maxMs: 2000 },
      provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
    });
  }, 60_000);

  afterEach(async () => {
    for (const path of mounts) await execa('umount', [path], { reject: false });
    await controller?.stop();
    await cluster?.stop();
    await detachBelow(disk.path);
    await disk?.remove();
  }, 60_000);

  const createClaim = (namespace: string, name: string, more: Partial<PersistentVolumeClaim['spec']> = {}) =>
    cluster.client.create<PersistentVolumeClaim>(
      PERSISTENT_VOLUME_CLAIMS,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          resources: { requests: { storage: '64Mi' } },
          ...more,
        },
      },
      { namespace },
    );

  /** The path of its device. */
  const isBound = (namespace: string, name: string, ms = 20_000): Promise<string> =>
    until(`${namespace}/${name} is bound`, ms, async () => {
      const { client } = cluster;
      const claim = await client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
      if (claim.status?.phase !== 'Bound') return undefined;
      const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, claim.spec.volumeName ?? '');
      return pv.spec.local?.path;
    });

  const eventsOf = async (namespace: string, name: string) =>
    (await cluster.client.list<KubeEvent>(EVENTS, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  const isTold = (namespace: string, name: string, text: string) =>
    until(`${name} is told: ${text}`, 10_000, async () =>
      (await eventsOf(namespace, name)).some((each) => each.includes(text)) ? true : undefined,
    );

  async function mountDevice(device: string, name: string): Promise<string> {
    const path = join(disk.path, `mnt-${name}`);
    await mkdir(path);
    await execa('mount', [device, path]);
    mounts.push(path);
    return path;
  }

  const stowage = async (...argv: string[]) => {
    const outcome = await cluster.stowage(argv);
    return { ...outcome, all: outcome.out + outcome.err };
  };

  /** prod/foo with a file in it, mounted, and the snapshot prod/foo-backup of it. */
  async function backup(): Promise<string> {
    await createClaim('prod', 'foo');
    const path = await mountDevice(await isBound('prod', 'foo'), 'foo');
    await writeFile(join(path, 'data'), 'of the story');
    const { code, all } = await stowage(
      'create',
      'snapshot',
      'foo-backup',
      '--pvc',
      'foo',
      '-n',
      'prod',
      '--wait',
    );
    expect([code, all]).toEqual([0, expect.stringContaining('foo-backup')]);
    await writeFile(join(path, 'data'), 'written after it');
    return path;
  }

  test('waits for the grant, has its bytes within 2 s of it, and all goes with the objects', async () => {
    await backup();
    await createClaim('test', 'foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await isTold('test', 'foo-testing', "isn't allowed");
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    const restored = await isBound('test', 'foo-testing', 2000);
    const path = await mountDevice(restored, 'restored');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');

    await createClaim('other', 'foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await isTold('other', 'foo-testing', "isn't allowed");

    for (const each of mounts.splice(0)) await execa('umount', [each]);
    const { client } = cluster;
    await client.delete(PERSISTENT_VOLUME_CLAIMS, 'foo', { namespace: 'prod' });
    await client.delete(VOLUME_SNAPSHOTS, 'foo-backup', { namespace: 'prod' });
    for (const namespace of ['test', 'other']) {
      await client.delete(PERSISTENT_VOLUME_CLAIMS, 'foo-testing', { namespace });
    }
    const folder = join(disk.path, 'volumes');
    await until('nothing is left', 30_000, async () => {
      const volumes = await client.list(VOLUMES);
      const files = (await readdir(folder, { recursive: true })).filter((name) => name !== 'snapshots');
      return volumes.items.length === 0 && files.length === 0 ? true : undefined;
    });
  }, 120_000);

  test('by a link, and to two namespaces: all are mounted at once', async () => {
    await backup();
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'other');
    await cluster.client.create(
      {
        group: 'snapshot.storage.k8s.io',
        version: 'v1alpha1',
        plural: 'volumesnapshotlinks',
        kind: 'VolumeSnapshotLink',
        namespaced: true,
      },
      fresh(LINK),
      { namespace: 'test' },
    );
    await createClaim('test', 'foo-testing', { dataSourceRef: TO_LINK });
    await createClaim('other', 'foo-testing', { dataSourceRef: TO_SNAPSHOT });
    for (const namespace of ['test', 'other']) {
      const path = await mountDevice(await isBound(namespace, 'foo-testing'), namespace);
      expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');
      await writeFile(join(path, 'data'), namespace);
    }
    expect(await readFile(join(disk.path, 'mnt-test', 'data'), 'utf8')).toBe('test');
    expect(await readFile(join(disk.path, 'mnt-foo', 'data'), 'utf8')).toBe('written after it');
  }, 120_000);

  test('a claim starts from another one of its namespace', async () => {
    await backup();
    await createClaim('prod', 'copy', {
      dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' },
      resources: { requests: { storage: '128Mi' } },
    });
    const path = await mountDevice(await isBound('prod', 'copy'), 'copy');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('written after it');
  }, 120_000);

  test('a snapshot is ready to be used, with its size', async () => {
    await backup();
    const { status } = await cluster.client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, 'foo-backup', {
      namespace: 'prod',
    });
    expect(status).toMatchObject({ readyToUse: true, restoreSize: expect.any(String) });
  }, 120_000);
});
