import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { BACKUPS, type Backup } from '../../src/api/builtins/backup.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { observePlace } from '../../src/controllers/lib/capacity/observe-place.ts';
import {
  fileDirectories,
  isOverpromised,
  promisedInDirectory,
} from '../../src/controllers/lib/capacity/promised.ts';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { createShellExecutor } from '../../src/nodes/transport/shell-executor.ts';
import { createSnapshotClass } from '../support/claim-objects.ts';
import { deviceClaims } from '../support/device-claims.ts';
import { createImage, fromImage } from '../support/images.ts';
import { ownFileSystem } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { until } from '../support/until.ts';

const MIB = 1 << 20;

/** Downloads and archives do not use space that is reserved for volumes. */
describeAsRoot('a volume on a file system that others fill up', () => {
  const scene = deviceClaims({
    disk: () => ownFileSystem('ext4', 300n << 20n),
    sources: (folder) => [`backups ${join(folder, 'archives')}`],
  });
  beforeEach(async () => {
    await mkdir(scene.volumes, { recursive: true });
    await scene.createFast();
  });

  const of = (storage: string) =>
    ({ volumeMode: 'Block', resources: { requests: { storage } } }) as const;
  async function device(id: `${string}/${string}`, size: string): Promise<string> {
    await scene.claims.create(id, of(size));
    const { metadata } = await scene.claims.isBound(id);
    return (
      (await scene.cluster.client.get<Volume>(VOLUMES, metadata.name)).status?.devicePath ?? ''
    );
  }
  const write = (path: string, mib: number) =>
    execa('dd', [
      ...['if=/dev/urandom', `of=${path}`, 'bs=1M', `count=${mib}`],
      ...['iflag=fullblock', 'conv=fsync,nocreat,notrunc', 'status=none'],
    ]);

  test('is reported by what its file has not taken yet', async () => {
    await write(await device('prod/v1', '100Mi'), 60);
    const { items } = await scene.cluster.client.list<Volume>(VOLUMES);
    const executor = createShellExecutor(createLocalShell(['n1']));
    const place = { type: 'sparse', directory: scene.volumes } as const;
    const observed = await observePlace(
      (probes) => executor.observe('n1', probes),
      place,
      fileDirectories(items),
    );
    await executor.close();
    if (!('directory' in observed)) throw new Error(`no room: ${JSON.stringify(observed)}`);
    const { promisedBytes, existingBytes } = promisedInDirectory(observed.directory, items);
    // The file also has a partition table, and blocks of the file system itself.
    expect(Number(promisedBytes) / MIB).toBeGreaterThan(38);
    expect(Number(promisedBytes) / MIB).toBeLessThanOrEqual(40);
    expect(isOverpromised({ promisedBytes, existingBytes })).toBe(false);
    const more = { ...(items[0] as Volume), metadata: { name: 'more', uid: 'more' } };
    more.spec = { ...more.spec, sparseLoopDevice: { size: '1Gi', directory: scene.volumes } };
    more.status = {};
    expect(isOverpromised(promisedInDirectory(observed.directory, [...items, more]))).toBe(true);
  });

  test('can use its reserved space beside stalled downloads', async () => {
    await scene.register('image', 'Image');
    const victims = [await device('prod/v1', '100Mi'), await device('prod/v2', '100Mi')];
    const header = Buffer.alloc(512);
    header.write('QFI\xfb', 0, 'latin1');
    header.writeUInt32BE(3, 4);
    let asked = 0;
    scene.server.paths.set('/held', (_request, response) => {
      asked += 1;
      response.writeHead(200);
      response.write(Buffer.concat([header, randomBytes(17 * MIB)]));
    });
    const source = { url: scene.server.url('/held') };
    await createImage(scene.cluster.client, 'test/held', { source, format: 'qcow2' } as never);
    for (let index = 0; index < 8; index++)
      await scene.claims.create(`test/c${index}`, {
        ...of('2Mi'),
        dataSourceRef: fromImage('held'),
      });
    const told = () =>
      Promise.all(
        Array.from({ length: 8 }, async (_, index) =>
          (await scene.claims.eventsOf(`test/c${index}`)).some((event) =>
            event.includes('including the download of its qcow2'),
          ),
        ),
      );
    await until('one image is downloaded, and the others have no space', async () => {
      const refused = (await told()).filter((each) => each).length;
      return (asked >= 1 && refused >= 7) || undefined;
    });
    for (const each of victims) await write(each, 98);
  });

  test('can use its reserved space beside backups to a path', async () => {
    const { client } = scene.cluster;
    await mkdir(join(scene.folder, 'archives'));
    await createSnapshotClass(client, 'fast');
    await write(await device('test/data', '40Mi'), 38);
    const victim = await device('prod/victim', '100Mi');
    await scene.claims.createSnapshot('test/snap', 'data', 'fast');
    await until(
      'the snapshot is ready',
      async () => (await scene.claims.snapshot('test/snap')).status?.readyToUse || undefined,
    );
    const name = (index: number) => `b${index}`;
    for (let index = 0; index < 5; index++) {
      await client.create<KubeObject>(
        BACKUPS,
        {
          apiVersion: `${BACKUPS.group}/${BACKUPS.version}`,
          kind: BACKUPS.kind,
          metadata: { name: name(index) },
          ...{
            spec: {
              snapshotName: 'snap',
              to: { path: join(scene.folder, 'archives', name(index)) },
            },
          },
        },
        { namespace: 'test' },
      );
    }
    const statuses = () =>
      Promise.all(
        Array.from({ length: 5 }, async (_, index) => {
          const { status } = await client.get<Backup>(BACKUPS, name(index), { namespace: 'test' });
          return `${status?.phase}: ${status?.message}`;
        }),
      );
    await until(
      'each Backup is Completed or has no space',
      async () =>
        (await statuses()).every(
          (each) =>
            each.startsWith('Completed') ||
            each.includes('too full for the archive, which must leave'),
        ) || undefined,
    );
    expect((await statuses()).filter((each) => each.startsWith('Completed'))).not.toHaveLength(5);
    await write(victim, 98);
  });
});
