import { createHash } from 'node:crypto';
import { copyFile, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { execa } from 'execa';
import { EVERY_CASE } from '../support/lane.ts';
import { localSparse } from '../support/local-sparse.ts';
import { describeAsRoot } from '../support/root.ts';
import { sha256 } from '../support/signatures.ts';

const MIB = 1n << 20n;

describeAsRoot('a sparse file with a real loop device, mkfs and udev', () => {
  const scene = localSparse('sparse');
  const { carry, prepared, deviceOf, faults, expectDestroyed } = scene;

  test('has its UUID, link and size, keeps its data detached, and is fully removed', async () => {
    const device = await prepared();
    expect(await faults(true)).toEqual([]);
    const probe = await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', '-s', 'TYPE', device]);
    expect(probe.stdout.split('\n').sort()).toEqual([scene.desired.uid, 'ext4'].sort());
    expect((await execa('realpath', [`/dev/disk/by-id/stowage-${scene.desired.uid}`])).stdout).toBe(
      device,
    );
    expect((await execa('blockdev', ['--getsize64', device])).stdout).toBe(
      String(scene.desired.sizeBytes),
    );

    await execa('mount', [device, scene.mountPoint]);
    await writeFile(join(scene.mountPoint, 'data'), 'kept');
    await execa('umount', [scene.mountPoint]);
    expect(await carry('detach')).toMatchObject({
      link: undefined,
      file: { type: 'file' },
      done: { sizeBytes: scene.desired.sizeBytes },
    });
    const again = deviceOf(await carry('attach', { ...scene.desired, recorded: true }));
    await execa('mount', [again, scene.mountPoint]);
    expect(await readFile(join(scene.mountPoint, 'data'), 'utf8')).toBe('kept');
    await execa('umount', [scene.mountPoint]);
    await expectDestroyed();
  });

  test('is found in a directory that is a symbolic link', async () => {
    const linked = `${scene.directory}/${scene.desired.uid}-linked`;
    await symlink(join(scene.directory, scene.desired.uid), linked);
    const through = { ...scene.desired, file: join(linked, scene.desired.uid) };
    deviceOf(await carry('provision', through));
    expect(await carry('detach', through)).toMatchObject({ link: undefined });
    expect(await carry('delete', through)).toMatchObject({ file: { type: 'missing' } });
    expect(await faults(false)).toEqual([]);
  });

  test('attached on demand is provisioned without a device, and keeps its data', async () => {
    scene.desired = { ...scene.desired, onDemand: true };
    expect(await carry('provision')).toMatchObject({
      link: undefined,
      done: { sizeBytes: scene.desired.sizeBytes },
    });
    const device = deviceOf(await carry('attach'));
    await execa('mount', [device, scene.mountPoint]);
    await writeFile(join(scene.mountPoint, 'data'), 'kept');
    await execa('umount', [scene.mountPoint]);
    expect(await carry('detach')).toMatchObject({ link: undefined });
    const again = deviceOf(await carry('attach'));
    await execa('mount', [again, scene.mountPoint]);
    expect(await readFile(join(scene.mountPoint, 'data'), 'utf8')).toBe('kept');
    await execa('umount', [scene.mountPoint]);
    await expectDestroyed();
  });

  test.each(EVERY_CASE ? (['ext4', 'xfs'] as const) : (['ext4'] as const))(
    'with a %s journal to replay stays unchanged while attached read-only',
    async (type) => {
      scene.desired = {
        ...scene.desired,
        onDemand: true,
        fs: { type, options: [] },
        sizeBytes: 320n * MIB,
      };
      await carry('provision');
      const device = deviceOf(await carry('attach'));
      await execa('mount', [device, scene.mountPoint]);
      await writeFile(join(scene.mountPoint, 'data'), 'kept');
      await execa('sync', ['-f', scene.mountPoint]);
      // The state after a power cut: the current data on disk, with its journal.
      const cut = `${scene.desired.file}.cut`;
      await copyFile(scene.desired.file, cut);
      await execa('umount', [scene.mountPoint]);
      await carry('detach');
      await rename(cut, scene.desired.file);
      const before = await sha256(scene.desired.file);

      const readOnly = { ...scene.desired, readOnly: true, recorded: true };
      const seen = await carry('attach', { ...readOnly, sizeBytes: 640n * MIB });
      const mounted = deviceOf(seen);
      expect(seen).toMatchObject({
        loops: expect.arrayContaining([expect.objectContaining({ readOnly: true })]),
      });
      expect((await execa('blockdev', ['--getro', mounted])).stdout).toBe('1');
      const without = type === 'xfs' ? 'ro,norecovery' : 'ro,noload';
      await execa('mount', ['-o', without, mounted, scene.mountPoint]);
      // Data that is only in the journal is not visible.
      expect((await execa('findmnt', ['-n', '-o', 'FSTYPE', scene.mountPoint])).stdout).toBe(type);
      await execa('umount', [scene.mountPoint]);
      expect(await carry('attach', { ...readOnly, readOnly: false })).toMatch(
        /is attached read-only, by another program or because the file could not be opened for writing$/,
      );
      expect(await carry('detach', readOnly)).toMatchObject({ link: undefined });
      expect(await sha256(scene.desired.file)).toBe(before);
      await expectDestroyed();
    },
  );

  test.each([
    ['a file of someone else', async () => writeFile(scene.desired.file, 'not yours')],
    [
      'a file system of someone else',
      async () => {
        await execa('truncate', ['-s', '16M', scene.desired.file]);
        await execa('mkfs.ext4', ['-q', '-F', scene.desired.file]);
      },
    ],
    [
      'a partial file of someone else',
      async () => writeFile(`${scene.desired.file}.partial`, 'not yours'),
    ],
  ] as const)('%s under its name is refused and left alone', async (_, make) => {
    await make();
    const sums = async () => {
      const sum = async (path: string) =>
        createHash('sha256')
          .update(await readFile(path).catch(() => ''))
          .digest('hex');
      return Promise.all([sum(scene.desired.file), sum(`${scene.desired.file}.partial`)]);
    };
    const before = await sums();
    expect(await carry('provision')).toMatch(
      /already exists, and nothing on the node shows that Stowage created it$/,
    );
    await carry('delete');
    expect(await sums()).toEqual(before);
  });

  test('is refused after a replacement, and the device keeps the earlier file', async () => {
    const device = await prepared();
    await copyFile(scene.desired.file, `${scene.desired.file}.copy`);
    await rename(`${scene.desired.file}.copy`, scene.desired.file);
    for (const operation of ['attach', 'provision'] as const) {
      expect(await carry(operation)).toContain(`${device} has an earlier file named`);
    }
    expect((await execa('losetup', ['-n', '-O', 'BACK-FILE', device])).stdout).toContain(
      '(deleted)',
    );
  });

  test('is not recreated if its file is missing', async () => {
    await prepared();
    await carry('detach');
    await rename(scene.desired.file, `${scene.desired.file}.away`);
    expect(await carry('provision')).toContain('was created before and is missing now');
    expect(await carry('attach')).toContain('is missing');
    await rename(`${scene.desired.file}.away`, scene.desired.file);
    deviceOf(await carry('provision'));
    await expectDestroyed();
  });
});
