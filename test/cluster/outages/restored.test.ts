import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { PAUSED_ANNOTATION } from '../../../src/api/names.ts';
import { VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { type HeldJobs, holdJobs } from '../../support/held-jobs.ts';
import { describeAsRoot } from '../../support/root.ts';
import { sha256 } from '../../support/signatures.ts';
import { type Restorable, readyOf, startRestorable } from './restorable.ts';

jest.setTimeout(240_000);

const MIB = 1n << 20n;
const FS = { mode: 'Filesystem' } as const;
const MODES = ['Filesystem', 'Block'] as const;

describeAsRoot('restore of etcd from an earlier backup', () => {
  let it: Restorable;
  const held: HeldJobs[] = [];

  beforeAll(async () => {
    it = await startRestorable();
  }, 700_000);
  afterEach(async () => {
    for (const each of held.splice(0)) await each.stop();
    await it.clean();
  });
  afterAll(() => it?.stop());

  const fileOf = ({ metadata: { uid } }: Volume) => `${it.kinds.folder}/${uid}`;
  const linkOf = ({ status }: Volume) => status?.devicePath ?? '';
  const sparse = () => ({ sparseLoopDevice: { size: '16Mi', directory: it.kinds.folder } });
  const newDisk = async () => (await it.kinds.disk(16n * MIB)).path;
  const onDisk = (devicePath: string, onDelete: 'Delete' | 'Retain') => ({
    rawBlockDevice: { devicePath },
    onDelete,
  });

  const WAYS: [string, () => Promise<void>][] = [
    ['at once', () => it.scene.controlPlane.restore()],
    ['while the daemon sleeps', () => it.restoreAsleep()],
  ];

  test.each(WAYS)(
    '%s: keeps the data of Volumes created since the backup, even if they are created again',
    async (_, restore) => {
      const { create, ready, gone, remove, kinds } = it;
      await it.scene.controlPlane.backUp();
      const disk = await newDisk();
      const specs = { a: sparse(), b: onDisk(disk, 'Delete') };
      await create('a', specs.a);
      await create('b', specs.b);
      const [a, b] = [await ready('a', 'True'), await ready('b', 'True')];
      for (const each of [a, b]) await kinds.write(FS, linkOf(each), 'kept');
      const seen = async () => [await sha256(fileOf(a)), await sha256(disk)];
      const before = await seen();
      await restore();
      for (const name of ['a', 'b']) await gone(name);

      await create('a', specs.a);
      await create('b', specs.b);
      const another = await ready('a', 'True');
      expect(another.metadata.uid).not.toBe(a.metadata.uid);
      expect(linkOf(another)).not.toBe(linkOf(a));
      expect(readyOf(await ready('b', 'False'))).toMatchObject({
        reason: 'CreationError',
        message: expect.stringContaining(
          `belongs to another Volume, with the UID ${b.metadata.uid}`,
        ),
      });
      expect(await seen()).toEqual(before);
      await remove('a', 'b');
      expect(await seen()).toEqual(before);
      // The loop device of a vanished Volume is detached while nothing uses it; its file stays.
      for (const path of [fileOf(a), linkOf(b)]) expect(await kinds.read(FS, path)).toBe('kept');
    },
  );

  test.each(WAYS)(
    '%s: Volumes deleted since the backup return with Ready=False, and can be deleted again',
    async (_, restore) => {
      const { create, ready, remove, kinds } = it;
      const disk = await newDisk();
      await create('a', sparse());
      await create('b', onDisk(disk, 'Delete'));
      const [a] = [await ready('a', 'True'), await ready('b', 'True')];
      await it.scene.controlPlane.backUp();
      await remove('a', 'b');
      const before = await sha256(disk);
      await restore();

      expect(readyOf(await ready('a', 'False'))).toMatchObject({
        reason: 'UnavailableError',
        message: expect.stringContaining(`the backing file ${fileOf(a)} is missing`),
      });
      expect(readyOf(await ready('b', 'False'))).toMatchObject({
        reason: 'UnavailableError',
        message: expect.stringContaining(
          'should contain what was created for this Volume, but nothing was found',
        ),
      });
      const files = await readdir(kinds.folder);
      expect(files.filter((name) => name.includes(a.metadata.uid ?? '-'))).toEqual([]);
      expect(await sha256(disk)).toBe(before);
      await remove('a', 'b');
      expect(await sha256(disk)).toBe(before);
    },
  );

  test.each(MODES)(
    'a Volume whose disk was reassigned since (%s) is Ready=False, and leaves the data intact',
    async (mode) => {
      const { create, ready, gone, remove, kinds } = it;
      const disk = await newDisk();
      await create('old', { ...onDisk(disk, 'Delete'), mode });
      await ready('old', 'True');
      await it.scene.controlPlane.backUp();
      await remove('old');
      // The deletion left data that is no longer known.
      await create('new', { ...onDisk(disk, 'Delete'), mode, overwrite: 'unknown data' });
      const link = linkOf(await ready('new', 'True'));
      await kinds.write({ mode }, link, 'kept');
      const before = await sha256(disk);
      await it.scene.controlPlane.restore();

      const old = await ready('old', 'UnavailableError');
      expect(readyOf(old)?.status).toBe('False');
      expect(old.metadata.finalizers).toHaveLength(1);
      await gone('new');
      expect(await sha256(disk)).toBe(before);
      // Its records went with its first deletion, and the disk now carries another Volume's data.
      await it.scene.client.delete(VOLUMES, 'old');
      await gone('old');
      expect(await sha256(disk)).toBe(before);
      expect(await kinds.read({ mode }, link)).toBe('kept');
    },
  );

  test('jobs started since the backup run only once, and Volumes become Available', async () => {
    const { create, get, ready, told, remove } = it;
    const began = Date.now();
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      const { metadata } = await create(name, sparse(), { [PAUSED_ANNOTATION]: 'true' });
      held.push(await holdJobs(metadata.uid ?? ''));
    }
    await it.scene.controlPlane.backUp();
    const resume = async () => {
      const patch = { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } };
      for (const name of names) await it.scene.client.patch(VOLUMES, name, patch);
    };
    await resume();
    for (const each of held) await each.begun();
    await it.scene.controlPlane.restore();
    for (const name of names) expect((await get(name)).status?.job).toBeUndefined();
    // The first job has ended before it is requested again.
    await held[0]?.release();
    await held[0]?.ended();
    await resume();
    await told('the other jobs are recorded again', async () => {
      const others = await Promise.all(names.slice(1).map(get));
      return others.every(({ status }) => status?.job === 'PrepareVolume/1') || undefined;
    });
    for (const each of held) await each.release();
    for (const name of names)
      expect((await ready(name, 'True')).status).toMatchObject({ attempt: 1 });
    expect(held.map((each) => each.seen())).toEqual(held.map(() => ['prepare-1']));
    const failed = (await it.watch.statuses()).filter(
      ({ time, phase }) => time > began && phase === 'Failed',
    );
    expect(failed).toEqual([]);
    await remove(...names);
  });
});
