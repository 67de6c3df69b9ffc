import { createHash, randomBytes } from 'node:crypto';
import { link, open, readdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ARCHIVES } from '../../src/api/builtins/archive.ts';
import { BACKUPS } from '../../src/api/builtins/backup.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/meta.ts';
import { AUTHORIZATION_HOSTS_ANNOTATION } from '../../src/api/names.ts';
import { VOLUME_SNAPSHOTS } from '../../src/api/resources.ts';
import { backupClaims, fromBackup } from '../support/backup-claims.ts';
import { holdPlaces } from '../support/held-places.ts';
import { describeAsRoot } from '../support/root.ts';
import type { Answer } from '../support/source-server.ts';
import { until } from '../support/until.ts';

/** Backups, with the daemon's controllers in this process, a sandbox, and real loop devices. */
describeAsRoot('a backup', () => {
  const { scene, archive, read, isGone, create, claimWithFiles, filesOf } = backupClaims();
  const untilAttempted = (name: string) =>
    until(
      `${name} is attempted`,
      async () => (await read(name)).status?.attempt === 1 || undefined,
    );

  /** Waits until the archive's temporary name is removed, after its completion is reported. */
  const hasOneName = (name: string) =>
    until('the archive has one name', async () => {
      const names = await readdir(join(scene.folder, 'archives'));
      return names.sort().join() === `.${name}.stowage,${name}` || undefined;
    });

  /** Makes the server store uploads to the path, and serve them. */
  function takes(path: string, status = 201): void {
    const chunks: Buffer[] = [];
    const answer: Answer = (request, response) => {
      if (request.method !== 'PUT') response.end(Buffer.concat(chunks));
      else {
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => response.writeHead(status).end());
      }
    };
    scene.server.paths.set(path, answer);
  }

  test('waits for one of the 16 slots of its node, and can be deleted meanwhile', async () => {
    await claimWithFiles();
    const places = await holdPlaces();
    try {
      for (const name of ['b', 'given-up']) {
        const { code } = await scene.cluster.stowage([
          ...['create', 'backup', `prod/${name}`, '--pvc', 'data', '--to', archive(name)],
        ]);
        expect(code).toBe(0);
        await untilAttempted(name);
      }
      await until('the Backup reports what it waits for', async () => {
        const { message } = (await read('b')).status ?? {};
        return message?.includes('one of the 16 slots on the node') || undefined;
      });
      await scene.cluster.client.delete(BACKUPS, 'given-up', { namespace: 'prod' });
      await isGone('given-up');
      expect((await read('b')).status?.phase).not.toBe('Completed');
      places.giveOne();
      await until(
        'the Backup is Completed',
        async () => (await read('b')).status?.phase === 'Completed' || undefined,
      );
      expect((await read('b')).status?.message).toBeUndefined();
      await hasOneName('b');
    } finally {
      await places.giveAll();
    }
  });

  test('completes with the archive that its interrupted attempt had finished', async () => {
    await claimWithFiles();
    const places = await holdPlaces();
    try {
      const words = ['--pvc', 'data', '--to', archive('b')];
      expect((await scene.cluster.stowage(['create', 'backup', 'prod/b', ...words])).code).toBe(0);
      await untilAttempted('b');
      const partial = archive(`.b.${(await read('b')).metadata.uid}.partial`);
      await writeFile(partial, 'all of it');
      await link(partial, archive('b'));
      places.giveOne();
      const { status } = await until('the Backup is Completed', async () => {
        const seen = await read('b');
        return seen.status?.phase === 'Completed' ? seen : undefined;
      });
      const sha256 = createHash('sha256').update('all of it').digest('hex');
      expect(status).toMatchObject({ attempt: 1, bytes: 9, sha256 });
      await hasOneName('b');
    } finally {
      await places.giveAll();
    }
  });

  test('cannot be read by an Archive of its path', async () => {
    await claimWithFiles();
    expect(await create('b', '--pvc', 'data', '--to', archive('b.tar.zst'))).toMatchObject({
      code: 0,
    });
    const { code } = await scene.cluster.stowage([
      'register',
      'populator',
      'archive',
      '--node',
      'Archive',
    ]);
    expect(code).toBe(0);
    const [name, kind] = ['theirs', ARCHIVES.kind];
    await scene.cluster.client.create<KubeObject>(
      ARCHIVES,
      {
        ...{ apiVersion: apiVersionOf(ARCHIVES), kind, metadata: { name } },
        spec: { source: { path: archive('b.tar.zst') }, allowSetuid: true, allowDevices: true },
      } as KubeObject,
      { namespace: 'test' },
    );
    await scene.claims.create('test/theirs', {
      dataSourceRef: { apiGroup: ARCHIVES.group, kind, name },
    });
    await scene.claims.isTold(
      'test/theirs',
      'Files in a directory of backups are only read for their Backups',
    );
    await scene.claims.remove('test/theirs');
    await scene.claims.remove('prod/data');
    await scene.isAllGone();
  });

  test('is uploaded from a snapshot to a URL with a Secret, and restored', async () => {
    const files = await claimWithFiles();
    await scene.claims.createSnapshot('prod/s', 'data');
    await scene.claims.isReady('prod/s');
    await scene.cluster.client.create<KubeObject>(
      { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true },
      {
        ...{ apiVersion: 'v1', kind: 'Secret' },
        metadata: {
          name: 'login',
          annotations: { [AUTHORIZATION_HOSTS_ANNOTATION]: new URL(scene.server.url('/')).origin },
        },
        data: { header: Buffer.from('Bearer "x\\y"').toString('base64') },
      } as KubeObject,
      { namespace: 'prod' },
    );
    takes('/b');
    const how = [
      '--snapshot',
      's',
      '--to',
      scene.server.url('/b'),
      '--authorization-secret',
      'login/header',
    ];
    expect(await create('b', ...how)).toMatchObject({ code: 0 });
    await scene.claims.create('prod/again', { dataSourceRef: fromBackup('b') });
    expect(await filesOf('prod/again')).toBe(files);
    expect(scene.server.asked.map(({ authorization }) => authorization)).toEqual([
      'Bearer "x\\y"',
      'Bearer "x\\y"',
    ]);
    // This snapshot belongs to the user.
    expect((await scene.cluster.client.list(VOLUME_SNAPSHOTS)).items).toHaveLength(1);
  });

  test('restores a Block volume byte for byte', async () => {
    const content = randomBytes(3 << 20);
    await scene.claims.create('prod/data', { volumeMode: 'Block' });
    const { spec } = await scene.claims.isBound('prod/data');
    await writeFile(spec.local?.path ?? '', content);
    expect(await create('b', '--pvc', 'data', '--to', archive('b.zst'))).toMatchObject({ code: 0 });
    await scene.claims.create('prod/again', {
      volumeMode: 'Block',
      dataSourceRef: fromBackup('b'),
    });
    const again = await open((await scene.claims.isBound('prod/again')).spec.local?.path ?? '');
    const { buffer } = await again.read(Buffer.alloc(content.length), 0, content.length, 0);
    await again.close();
    expect(buffer.equals(content)).toBe(true);
  });

  test.each([
    [
      'to a directory of images',
      () => join(scene.folder, 'images', 'b.zst'),
      /add a line backups DIRECTORY there/,
    ],
    [
      'to a server that redirects',
      () => scene.server.url('/elsewhere'),
      /answered 307, and redirects/,
    ],
    [
      'to a server that the node does not list',
      () => 'http://127.0.0.3/b?sig=S3CRET',
      /^(?!.*S3CRET).* http:\/\/127\.0\.0\.3\/b\?\.\.\. begins with no prefix .* add a line backup-to/s,
    ],
    [
      'to an address that the node does not allow',
      () => 'http://127.0.0.2/b',
      /allows no connection/,
    ],
  ])('is refused %s, and leaves nothing', async (_what, to, message) => {
    await claimWithFiles();
    await writeFile(archive('there'), 'mine');
    takes('/elsewhere', 307);
    const { code, err } = await create('b', '--pvc', 'data', '--to', to());
    expect([code, err]).toEqual([1, expect.stringMatching(message)]);
    expect(await readdir(join(scene.folder, 'archives'))).toEqual(['there']);
    expect(await readdir(join(scene.folder, 'images'))).toEqual([]);
    await scene.claims.create('prod/again', { dataSourceRef: fromBackup('b') });
    await scene.claims.isTold('prod/again', 'it is not complete: its phase is Failed');
    await scene.cluster.client.delete(BACKUPS, 'b', { namespace: 'prod' });
    for (const name of ['data', 'again'] as const) await scene.claims.remove(`prod/${name}`);
    await scene.isAllGone();
  });

  test('leaves nothing behind if it is deleted while it runs', async () => {
    await claimWithFiles();
    let waiting: ServerResponse | undefined;
    scene.server.paths.set('/slow', (_request, response) => {
      waiting = response;
    });
    const to = ['--pvc', 'data', '--to', scene.server.url('/slow')];
    expect(await scene.cluster.stowage(['create', 'backup', 'prod/b', ...to])).toMatchObject({
      code: 0,
    });
    await until('the upload has begun', async () => waiting !== undefined || undefined);
    expect((await read('b')).status?.phase).toBe('Running');
    await scene.cluster.client.delete(BACKUPS, 'b', { namespace: 'prod' });
    await scene.claims.remove('prod/data');
    waiting?.destroy();
    await scene.isAllGone();
    await isGone('b');
    expect(await readdir('/run/stowage/backups')).toEqual([]);
    expect((await scene.cluster.client.list(VOLUME_SNAPSHOTS)).items).toEqual([]);
  });
});
