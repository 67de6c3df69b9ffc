import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { VOLUME_SNAPSHOT_LINKS } from '../../src/api/resources.ts';
import { createSnapshotClass } from '../support/claim-objects.ts';
import { deviceClaims } from '../support/device-claims.ts';
import { ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { fresh, LINK, TO_LINK, TO_SNAPSHOT } from '../support/snapshots.ts';

/**
 * The stories of KEP-3294, with the daemon's controllers in this process, a sandbox, and real loop
 * devices on XFS.
 */
describeAsRoot('a snapshot for a restore to another namespace', () => {
  const scene = deviceClaims({ disk: () => ownFileSystem('xfs', 4n << 30n) });
  beforeEach(async () => {
    await scene.createFast();
    await createSnapshotClass(scene.cluster.client, 'fast');
  });

  const stowage = async (...argv: string[]) => {
    const outcome = await scene.cluster.stowage(argv);
    return { ...outcome, all: outcome.out + outcome.err };
  };

  /** Creates prod/foo with a file, mounted, and its snapshot prod/foo-backup. */
  async function backup(): Promise<void> {
    await scene.claims.create('prod/foo');
    const path = await scene.mounted('prod/foo');
    await writeFile(join(path, 'data'), 'of the story');
    const argv = ['create', 'snapshot', 'foo-backup', '--pvc', 'foo', '-n', 'prod', '--wait'];
    const { code, all } = await stowage(...argv);
    expect([code, all]).toEqual([0, expect.stringContaining('foo-backup')]);
    await writeFile(join(path, 'data'), 'written after it');
  }

  test('is restored only after a grant, and nothing is left after deletion', async () => {
    await backup();
    await scene.claims.create('test/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await scene.claims.isTold('test/foo-testing', "isn't allowed");
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    const path = await scene.mounted('test/foo-testing');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');

    await scene.claims.create('other/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    await scene.claims.isTold('other/foo-testing', "isn't allowed");

    await scene.devices.unmount();
    await scene.claims.remove('prod/foo');
    await scene.claims.removeSnapshot('prod/foo-backup');
    await scene.claims.remove('test/foo-testing');
    await scene.claims.remove('other/foo-testing');
    await scene.isAllGone();
  });

  test('is restored to two namespaces, one by a link, as independent volumes', async () => {
    await backup();
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'test');
    await stowage('grant', 'snapshot', 'prod/foo-backup', '--to', 'other');
    await scene.cluster.client.create(VOLUME_SNAPSHOT_LINKS, fresh(LINK), { namespace: 'test' });
    await scene.claims.create('test/foo-testing', { dataSourceRef: TO_LINK });
    await scene.claims.create('other/foo-testing', { dataSourceRef: TO_SNAPSHOT });
    for (const namespace of ['test', 'other']) {
      const path = await scene.mounted(`${namespace}/foo-testing`);
      expect(await readFile(join(path, 'data'), 'utf8')).toBe('of the story');
      await writeFile(join(path, 'data'), namespace);
    }
    expect(await readFile(join(scene.folder, 'mnt-test-foo-testing', 'data'), 'utf8')).toBe('test');
    expect(await readFile(join(scene.folder, 'mnt-prod-foo', 'data'), 'utf8')).toBe(
      'written after it',
    );
  });

  test('a claim clones another claim of its namespace', async () => {
    await backup();
    await scene.claims.create('prod/copy', {
      dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' },
      resources: { requests: { storage: '128Mi' } },
    });
    const path = await scene.mounted('prod/copy');
    expect(await readFile(join(path, 'data'), 'utf8')).toBe('written after it');
  });

  test('a snapshot is ready to be used, with its size', async () => {
    await backup();
    const { status } = await scene.claims.snapshot('prod/foo-backup');
    expect(status).toMatchObject({ readyToUse: true, restoreSize: expect.any(String) });
  });
});
