import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { sparseVolume } from '../support/cluster.ts';
import { leftovers } from '../support/leftovers.ts';
import { describeAsRoot } from '../support/root.ts';
import { fileOf, startVolumeScene, type VolumeScene } from '../support/volume-scene.ts';

/**
 * Every string of a Volume reaches the node as one argument, or is refused. The strings of a kind
 * are tried concurrently.
 */
describeAsRoot('a sparse volume over ssh', () => {
  let scene: VolumeScene;

  beforeAll(async () => {
    scene = await startVolumeScene();
  });
  afterAll(async () => {
    expect(await scene?.stop()).toBe(0);
  });

  /** Returns the file that a command in a string would create. */
  const wasHere = () => join(scene.folder, 'was-here');
  const withCommand = (text: string) => text.replace('WAS_HERE', wasHere());

  describe('hostile directories', () => {
    const EVIL = [
      "it's",
      'a b',
      '$(touch WAS_HERE)',
      '`id`',
      '-rf',
      'a;b|c&d',
      '"q"',
      '*',
      '\\',
      '%s',
    ];
    const rows = EVIL.map((name, index) => ({ name, index }));
    const directoryOf = (name: string) => `${scene.folder}/dirs/${withCommand(name)}`;
    let made: Volume[];

    beforeAll(async () => {
      const manifests = rows.map(({ name, index }) => {
        const volume = sparseVolume(`evil-${index}`, 'n1', '32Mi');
        volume.spec.sparseLoopDevice = { size: '32Mi', directory: directoryOf(name) };
        return stringify(volume);
      });
      await scene.run('kubectl', ['apply', '-f', '-'], manifests.join('---\n'));
      made = await Promise.all(rows.map(({ index }) => scene.settled(`evil-${index}`)));
    });

    test.each(rows)('a directory named $name is one argument', ({ index }) => {
      expect(made[index]?.status?.conditions?.[0]).toMatchObject({ status: 'True', message: '' });
    });

    test('each directory gets one file and one device, and all of them are removed', async () => {
      const directories = EVIL.map(directoryOf);
      const expected = made.map((volume) => ({
        ...{ uid: volume.metadata.uid ?? '', file: fileOf(volume), loop: true },
      }));
      expect(await leftovers({ expected, directories })).toEqual([]);
      await scene.remove(...made);
      expect(await leftovers({ directories, client: scene.client })).toEqual([]);
      expect(existsSync(wasHere())).toBe(false);
    });
  });

  describe('hostile specs', () => {
    const directory = (text: string) => (v: Volume) =>
      Object.assign(v.spec, { sparseLoopDevice: { size: '32Mi', directory: text } });
    const node = (text: string) => (v: Volume) =>
      Object.assign(v.spec, { nodeName: withCommand(text) });
    const size = (text: string) => (v: Volume) =>
      Object.assign(v.spec, { sparseLoopDevice: { size: text } });
    const REFUSED: [string, (volume: Volume) => void][] = [
      ['a newline in the directory', directory('/tmp/a\nb')],
      ['a relative directory', directory('tmp')],
      ['a directory with ..', directory('/tmp/../etc')],
      ['a directory like an option', directory('--help')],
      ['a node like an option', node('-oProxyCommand=touch WAS_HERE')],
      ['a node with a command', node('n1;$(touch WAS_HERE)')],
      ['a node with a newline', node('n1\nn2')],
      ['a class that is a path', (v) => Object.assign(v.spec, { storageClassName: '../../nodes' })],
      ['a size with a command', size('$(id)Gi')],
      ['a size like an option', size('-1Gi')],
    ];
    /** Result of each: a Volume, or the API server's refusal. */
    let ends: (Volume | Error)[];

    beforeAll(async () => {
      ends = await Promise.all(
        REFUSED.map(async ([, change], index) => {
          const volume = sparseVolume(`refused-${index}`, 'n1', '32Mi');
          change(volume);
          const created = await scene.client.create(VOLUMES, volume).catch((error: Error) => error);
          return created instanceof Error ? created : scene.settled(volume.metadata.name);
        }),
      );
    });

    test.each(REFUSED.map(([what], index) => ({ what, index })))(
      '$what is refused and named',
      ({ index }) => {
        const end = ends[index] as Volume | Error;
        if (end instanceof Error) {
          expect(String(end)).toMatch(/spec/);
          return;
        }
        expect(end.status?.phase).toBe('Failed');
        expect(end.status?.conditions?.[0]?.message).toMatch(/^spec\./);
        expect(end.status?.attempt).toBeUndefined();
      },
    );

    test('refused Volumes can be deleted, and none of them ran a command', async () => {
      await scene.remove(...ends.filter((end): end is Volume => !(end instanceof Error)));
      expect(existsSync(wasHere())).toBe(false);
    });
  });

  describe('hostile mkfs options', () => {
    const OPTIONS = [
      ['["-U", "clear"]', '-U'],
      ['["/dev/vda"]', '/dev/vda'],
      ['["-E", "offset=0"]', 'offset'],
      ['["-d", "/root"]', '-d'],
      ['["-m", "$(id)"]', '$(id)'],
      ['not json', 'not json'],
    ].map(([mkfsOptions = '', named = ''], index) => ({ mkfsOptions, named, index }));
    let failed: Volume[];

    beforeAll(async () => {
      failed = await Promise.all(
        OPTIONS.map(async ({ mkfsOptions, index }) => {
          const name = `options-${index}`;
          await scene.client.create(STORAGE_CLASSES, {
            ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
            provisioner: 'kubernetes.io/no-provisioner',
            parameters: { fsType: 'ext4', mkfsOptions },
          } as never);
          const volume = sparseVolume(name, 'n1', '32Mi');
          volume.spec.storageClassName = name;
          await scene.client.create(VOLUMES, volume);
          return scene.settled(name);
        }),
      );
    });
    afterAll(() => scene.remove(...failed));

    test.each(OPTIONS)('$mkfsOptions are refused', ({ named, index }) => {
      const [ready] = failed[index]?.status?.conditions ?? [];
      expect(ready).toMatchObject({ status: 'False', reason: 'CreationError' });
      expect(ready?.message).toContain(named);
    });
  });
});
