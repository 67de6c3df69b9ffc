import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { scriptProcesses } from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { ensureUdev } from '../support/udev.ts';
import { until } from '../support/until.ts';

describeAsRoot('the UUID of a copy of a frozen XFS', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let stopUdev: () => Promise<void>;
  let original: string;
  let device: string;
  let link: string;
  let copy: string;
  let uuid: string;

  beforeAll(async () => {
    stopUdev = await ensureUdev();
    folder = await temporaryDirectory('xfs-uuid');
    original = join(folder.path, 'original');
    await mkdir(join(folder.path, 'mnt'));
    await writeFile(original, '');
    await execa('truncate', ['-s', '310M', original]);
    const own = randomUUID();
    await execa('mkfs.xfs', ['-q', '-m', `uuid=${own}`, original]);
    device = (await execa('losetup', ['-f', '--show', original])).stdout;
    link = `/dev/disk/by-uuid/${own}`;
    await until('udev has created the link', async () => (existsSync(link) ? true : undefined));
    await execa('mount', [device, join(folder.path, 'mnt')]);
  });
  afterAll(async () => {
    await execa('umount', [join(folder.path, 'mnt')]);
    await execa('losetup', ['-d', device]);
    await folder.remove();
    await stopUdev();
  });
  beforeEach(async () => {
    uuid = randomUUID();
    copy = join(folder.path, `${uuid}.partial`);
    await writeFile(join(folder.path, 'mnt', uuid), 'x');
    await execa('fsfreeze', ['-f', join(folder.path, 'mnt')]);
    await execa('cp', ['--sparse=always', original, copy]);
    await execa('fsfreeze', ['-u', join(folder.path, 'mnt')]);
    await rm(join(folder.path, 'bin'), { recursive: true, force: true });
    await mkdir(join(folder.path, 'bin'));
  });
  afterEach(async () => {
    for (const name of await attachedTo()) {
      await execa('umount', [name], { reject: false });
      await execa('losetup', ['-d', name], { reject: false });
    }
    await rm(copy, { force: true });
  });

  const attachedTo = async (): Promise<string[]> =>
    (await execa('losetup', ['-j', copy, '-O', 'NAME', '-n'])).stdout
      .split('\n')
      .filter((each) => each !== '');
  const uuidOf = async () =>
    (await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', copy])).stdout;

  /** Delays the mount. */
  async function slowMount(): Promise<void> {
    const path = join(folder.path, 'bin', 'mount');
    await writeFile(path, `#!/bin/sh\ntouch ${path}s\nsleep 1\nPATH=$\{PATH#*:} exec mount "$@"\n`);
    await chmod(path, 0o755);
  }

  const start = (...more: string[]) =>
    execa('sh', scriptArgv('stowage-xfs-uuid', copy, uuid, ...more).slice(1), {
      reject: false,
      cwd: '/',
      env: { copy, PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` },
    });

  async function expectNothingLeft(): Promise<void> {
    await until('no process is left', async () =>
      (await scriptProcesses(`copy=${copy}`)).size === 0 ? true : undefined,
    );
    expect(await attachedTo()).toEqual([]);
    expect((await execa('cat', ['/proc/self/mountinfo'])).stdout).not.toContain(
      '/run/stowage/mounts',
    );
    expect(`/dev/${(await readlink(link)).split('/').at(-1)}`).toBe(device);
  }

  test('is changed through another loop device if the free one is taken meanwhile', async () => {
    const path = join(folder.path, 'bin', 'losetup');
    // The first response names a device that already has a file.
    await writeFile(
      path,
      `#!/bin/sh\nPATH=$\{PATH#*:}\n[ "$*" != -f ] || ! mkdir ${path}s 2>/dev/null || { echo ${device}; exit; }\nexec losetup "$@"\n`,
    );
    await chmod(path, 0o755);
    const { exitCode, stderr } = await start();
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Device or resource busy')]);
    expect(await uuidOf()).toBe(uuid);
    await expectNothingLeft();
  });

  test.each([
    [[], 310],
    [['grow'], 620],
  ] as [string[], number][])(
    'is changed after log replay, and never takes over the link of the original (%j)',
    async (more, mib) => {
      await execa('truncate', ['-s', `${mib}M`, copy]);
      let away = false;
      let running = true;
      const watching = (async () => {
        while (running)
          away ||= !(await readlink(link).catch(() => '')).endsWith(device.slice('/dev/'.length));
      })();
      const ended = await start(...more);
      running = false;
      await watching;
      expect(ended.exitCode).toBe(0);
      expect(away).toBe(false);
      expect(await uuidOf()).toBe(uuid);
      await expectNothingLeft();
      await execa('xfs_repair', ['-n', copy]);
      await execa('mount', ['-o', 'loop', copy, join(folder.path, 'bin')]);
      const names = await readdir(join(folder.path, 'bin'));
      const { stdout } = await execa('df', ['-B1M', '--output=size', join(folder.path, 'bin')]);
      await execa('umount', [join(folder.path, 'bin')]);
      expect(names).toContain(uuid);
      expect(Number(stdout.split('\n')[1])).toBeGreaterThan(mib - 70);
    },
  );

  test('stays unchanged if the script is killed, and the copy is detached', async () => {
    await slowMount();
    const running = start();
    await until('the mount has begun', async () =>
      existsSync(join(folder.path, 'bin', 'mounts')) ? true : undefined,
    );
    expect(await attachedTo()).toHaveLength(1);
    running.kill('SIGKILL');
    await running;
    await expectNothingLeft();
    expect(await uuidOf()).not.toBe(uuid);
    // The next attempt behaves like the first.
    await rm(join(folder.path, 'bin'), { recursive: true });
    expect((await start()).exitCode).toBe(0);
    expect(await uuidOf()).toBe(uuid);
  });

  test('stays unchanged if the copy cannot be mounted, which is an error', async () => {
    await writeFile(join(folder.path, 'bin', 'mount'), '#!/bin/sh\nexit 32\n');
    await chmod(join(folder.path, 'bin', 'mount'), 0o755);
    expect((await start()).exitCode).toBe(1);
    await expectNothingLeft();
    expect(await uuidOf()).not.toBe(uuid);
  });
});
