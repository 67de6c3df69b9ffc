import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { VOLUME_SNAPSHOT_LINKS } from '../../src/api/resources.ts';
import { createLocalShell } from '../../src/nodes/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/shell-executor.ts';
import { isAllGone } from '../support/all-gone.ts';
import { claimsOf, createClass, createNode, createSnapshotClass, type Id } from '../support/claim-objects.ts';
import { type ClaimsCluster, startClaimsCluster } from '../support/claims-cluster.ts';
import { startController, type TestController } from '../support/controller.ts';
import { deviceMounts } from '../support/device-mounts.ts';
import { type OwnFileSystem, ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { fresh, LINK, TO_LINK, TO_SNAPSHOT } from '../support/snapshots.ts';
import { ensureUdev } from '../support/udev.ts';

/** The stories of KEP-3294, with the daemon's controllers in this process, a sandbox, and real loop devices on XFS. */
describeAsRoot('a snapshot that another namespace starts from', () => {
  let stopUdev: () => Promise<void>;
  let disk: OwnFileSystem;
  let cluster: ClaimsCluster;
  let controller: TestController;
  let claims: ReturnType<typeof claimsOf>;
  let devices: ReturnType<typeof deviceMounts>;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
  });
  afterAll(() => stopUdev?.());

  beforeEach(async () => {
    disk = await ownFileSystem('xfs', 4n << 30n);
    devices = deviceMounts(disk.path);
    cluster = await startClaimsCluster({ crossNamespace: true });
    const { client } = cluster;
    claims = claimsOf(client, { storageClassName: 'fast', size: '64Mi' });
    await createNode(client, 'n1');
    await createClass(client, 'fast', join(disk.path, 'volumes'), 'ext4');
    await createSnapshotClass(client, 'fast');
    controller = await startController(client, {
      executor: createShellExecutor(createLocalShell(['n1'])),
      retry: { startMs: 200, maxMs: 2000 },
      provisioning: { namespace: 'default', crossNamespace: true, snapshotController: 'builtin' },
    });
  });

  afterEach(async () => {
    await controller?.stop();
    await cluster?.stop();
    await devices?.clean();
    await disk?.remove();
  });

  const stowage = async (...argv: string[]) => {
    const outcome = await cluster.stowage(argv);
    return { ...outcome, all: outcome.out + outcome.err };
  };

  /** @returns where it is mounted */
  async function mounted(id: Id): Promise<string> {
    const { spec } = await claims.isBound(id);
    return devices.mount(spec.local?.path ?? '', id.replace('/', '-'));
  }

  /** prod/foo with a file in it, mounted, and the snapshot prod/foo-backup of it. */
  async function backup(): Promise<void> {
    await claims.create('prod/foo');
    const path = await mounted('prod/foo');
    await writeFile(join(path, 'data'), 'of the story');
    const argv = ['create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'];
    const { code, all } = await stowage(...argv);
    expect([code, all]).toEqual([0, expect.stringContaining('foo-backup')]);
    await writeFile(join(path, 'data'), 'written after it');
  }

  test('waits for the grant, has its bytes within 2 s of it, and all goes with the objects', async () => {
    await backup();
    await claims.create('test/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await claims.isTold('test/foo-testing', "isn't allowed");
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    const path = await mounted('test/foo-testing');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');

    await claims.create('other/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await claims.isTold('other/foo-testing', "isn't allowed");

    await devices.unmount();
    await claims.remove('prod/foo');
    await claims.removeSnapshot('prod/foo-backup');
    await claims.remove('test/foo-testing');
    await claims.remove('other/foo-testing');
    await isAllGone(cluster.client, join(disk.path, 'volumes'));
  });

  test('by a link, and to two namespaces: all are mounted at once', async () => {
    await backup();
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'other');
    await cluster.client.create(VOLUME_SNAPSHOT_LINKS, fresh(LINK), { namespace: 'test' });
    await claims.create('test/foo-testing', { dataSourceRef: TO_LINK });
    await claims.create('other/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    for (const namespace of ['test', 'other']) {
      const path = await mounted(`${namespace}/foo-testing`);
      expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');
      await writeFile(join(path, 'data'), namespace);
    }
    expect(await readFile(join(disk.path, 'mnt-test-foo-testing', 'data'), 'utf8')).toBe('test');
    expect(await readFile(join(disk.path, 'mnt-prod-foo', 'data'), 'utf8')).toBe('written after it');
  });

  test('a claim starts from another one of its namespace', async () => {
    await backup();
    await claims.create('prod/copy', {
      dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' },
      resources: { requests: { storage: '128Mi' } },
    });
    const path = await mounted('prod/copy');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('written after it');
  });

  test('a snapshot is ready to be used, with its size', async () => {
    await backup();
    const { status } = await claims.snapshot('prod/foo-backup');
    expect(status).toMatchObject({ readyToUse: true, restoreSize: expect.any(String) });
  });
});
