import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BACKUPS } from '../../src/api/builtins/backup.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/meta.ts';
import { VOLUME_SNAPSHOTS } from '../../src/api/resources.ts';
import { backupClaims, fromBackup } from '../support/backup-claims.ts';
import { describeAsRoot } from '../support/root.ts';

/** Backups, with the daemon's controllers in this process, a sandbox, and real loop devices. */
describeAsRoot('a backup', () => {
  const { scene, archive, read, isGone, create, claimWithFiles, filesOf } = backupClaims();

  test('restores a claim’s files, and leaves only the archive and its record', async () => {
    const files = await claimWithFiles();
    const { code, err } = await create('b', '--pvc', 'data', '--to', archive('b.tar.zst'));
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('created') });
    const { status } = await read('b');
    expect(status).toMatchObject({
      phase: 'Completed',
      node: 'n1',
      volumeMode: 'Filesystem',
      attempt: 1,
    });
    await scene.claims.create('prod/again', { dataSourceRef: fromBackup('b') });
    expect(await filesOf('prod/again')).toBe(files);
    expect((await scene.cluster.client.list(VOLUME_SNAPSHOTS)).items).toEqual([]);

    await scene.claims.create('prod/block', {
      volumeMode: 'Block',
      dataSourceRef: fromBackup('b'),
    });
    await scene.claims.isTold('prod/block', 'needs a claim of volume mode Filesystem');

    await scene.cluster.client.delete(BACKUPS, 'b', { namespace: 'prod' });
    for (const name of ['data', 'again', 'block'] as const)
      await scene.claims.remove(`prod/${name}`);
    await scene.isAllGone();
    await isGone('b');
    expect((await readdir(join(scene.folder, 'archives'))).sort()).toEqual([
      '.b.tar.zst.stowage',
      'b.tar.zst',
    ]);
    expect(await readdir('/run/stowage/backups')).toEqual([]);
  });

  test('is not read for a Backup with a forged status unless root records it', async () => {
    await claimWithFiles();
    const path = archive('b.tar.zst');
    expect(await create('b', '--pvc', 'data', '--to', path)).toMatchObject({ code: 0 });
    const { status } = await read('b');
    const { client } = scene.cluster;
    const forged = await client.create<KubeObject>(
      BACKUPS,
      {
        ...{ apiVersion: apiVersionOf(BACKUPS), kind: BACKUPS.kind, metadata: { name: 'steal' } },
        spec: { claimName: 'missing', to: { path } },
      } as KubeObject,
      { namespace: 'test' },
    );
    await client.patch(BACKUPS, 'steal', { status }, { namespace: 'test', subresource: 'status' });
    await scene.claims.create('test/theirs', { dataSourceRef: fromBackup('steal') });
    await scene.claims.isTold(
      'test/theirs',
      'is the archive of this Backup, with its sha256. If it is',
    );
    await scene.claims.remove('test/theirs');

    await writeFile(archive('.b.tar.zst.stowage'), `${forged.metadata.uid} ${'0'.repeat(64)}\n`);
    await scene.claims.create('test/theirs', { dataSourceRef: fromBackup('steal') });
    await scene.claims.isTold(
      'test/theirs',
      'is the archive of this Backup, with its sha256. If it is',
    );
    await scene.claims.remove('test/theirs');

    await writeFile(archive('.b.tar.zst.stowage'), `${forged.metadata.uid} ${status?.sha256}\n`);
    await scene.claims.create('test/theirs', { dataSourceRef: fromBackup('steal') });
    await scene.claims.isBound('test/theirs');
    await scene.claims.remove('test/theirs');
    await scene.claims.remove('prod/data');
    await scene.isAllGone();
  });

  test('fails on an existing file and outside backup directories, leaving nothing', async () => {
    await claimWithFiles();
    await writeFile(archive('there'), 'mine');
    const elsewhere = join(scene.folder, 'elsewhere.zst');
    for (const [name, to, message] of [
      ['over', archive('there'), /there already exists on this node, and is not replaced/],
      ['elsewhere', elsewhere, /in no directory that .*: add a line backups DIRECTORY there/],
    ] as const) {
      const { code, err } = await create(name, '--pvc', 'data', '--to', to);
      expect([code, err]).toEqual([1, expect.stringMatching(message)]);
      await scene.cluster.client.delete(BACKUPS, name, { namespace: 'prod' });
      await isGone(name);
    }
    expect(await readFile(archive('there'), 'utf8')).toBe('mine');
    expect(await readdir(join(scene.folder, 'archives'))).toEqual(['there']);
    expect(existsSync(elsewhere)).toBe(false);
    await scene.claims.remove('prod/data');
    await scene.isAllGone();
  });
});
