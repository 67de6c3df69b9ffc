import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from '@jest/globals';
import { ARCHIVES, type Archive } from '../../src/api/builtins/archive.ts';
import { apiVersionOf, type KubeObject } from '../../src/api/meta.ts';
import { deviceClaims } from '../support/device-claims.ts';
import { describeAsRoot } from '../support/root.ts';
import { type Member, tarOf } from '../support/tar.ts';

const CONTENT = randomBytes(2 << 20);
const fromArchive = (name: string) => ({ apiGroup: ARCHIVES.group, kind: ARCHIVES.kind, name });

/**
 * Claims that start from the files of an archive, with the daemon's controllers in this process, a
 * sandbox, and real loop devices.
 */
describeAsRoot('a claim populated from an Archive', () => {
  const scene = deviceClaims();
  beforeEach(async () => {
    await mkdir(scene.volumes);
    await scene.createFast();
    await scene.register('archive', 'Archive');
  });

  async function createArchive(name: string, spec: Omit<Archive['spec'], 'source'>): Promise<void> {
    const archive: Archive = {
      ...{
        apiVersion: apiVersionOf(ARCHIVES),
        kind: ARCHIVES.kind,
        metadata: { name, namespace: 'prod' },
      },
      spec: { source: { url: scene.server.url(`/${name}`) }, ...spec },
    };
    await scene.cluster.client.create<KubeObject>(ARCHIVES, archive, { namespace: 'prod' });
  }

  test('contains the files of the archive, and leaves nothing behind when deleted', async () => {
    const members: Member[] = [
      { name: './', type: 'folder', mode: 0o750 },
      { name: './bin/', type: 'folder', mode: 0o755 },
      { name: './bin/su', data: CONTENT, mode: 0o4711 },
    ];
    scene.server.paths.set('/good', gzipSync(tarOf(members)));
    await createArchive('good', { compression: 'gzip', allowSetuid: true });
    await scene.claims.create('prod/files', { dataSourceRef: fromArchive('good') });
    const path = await scene.mounted('prod/files');
    expect((await readFile(join(path, 'bin/su'))).equals(CONTENT)).toBe(true);
    expect((await stat(join(path, 'bin/su'))).mode & 0o7777).toBe(0o4711);
    expect((await stat(path)).mode & 0o7777).toBe(0o750);
    await scene.devices.unmount();
    await scene.claims.remove('prod/files');
    await scene.isAllGone();
  });

  test.each<[string, Member, object, string]>([
    ['a name with ..', { name: '../evil', data: 'x' }, {}, 'names that lead out of the volume'],
    ['a device', { name: 'sda', type: 'block device', device: [8, 0] }, {}, 'has a device file'],
    ['a setuid program', { name: 'su', data: 'x', mode: 0o4755 }, {}, 'setuid or setgid program'],
    [
      'a claim of mode Block',
      { name: 'a', data: 'x' },
      { volumeMode: 'Block' },
      'a claim of volume mode Filesystem',
    ],
  ])(
    'is refused with %s, stays Pending, and leaves nothing behind',
    async (_what, member, claim, message) => {
      scene.server.paths.set('/bad', tarOf([member]));
      await createArchive('bad', {});
      await scene.claims.create('prod/claim', { dataSourceRef: fromArchive('bad'), ...claim });
      await scene.claims.isTold('prod/claim', message);
      expect((await scene.claims.get('prod/claim')).status?.phase).toBe('Pending');
      expect(await readdir(scene.volumes).catch(() => [])).toEqual([]);
      await scene.claims.remove('prod/claim');
      await scene.isAllGone();
    },
  );
});
