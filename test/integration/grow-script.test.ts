import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { FsType } from '../../src/api/file-systems.ts';
import { growsMounted } from '../../src/storage/linux-capabilities.ts';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const MOUNTS = '/run/stowage/mounts';
const MIB = 1 << 20;
/**
 * File systems to test. Root in a container may lack the capability that growing a mounted ext4
 * requires.
 */
const TYPES: readonly FsType[] = growsMounted(readFileSync('/proc/self/status', 'utf8'))
  ? ['ext4', 'xfs']
  : ['xfs'];

describeAsRoot('the script that grows a file system', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let file: string;
  let pod: string;
  let device: string;
  let uuid: string;

  beforeEach(async () => {
    folder = await temporaryDirectory('grow-script');
    [file, pod] = [join(folder.path, 'file'), join(folder.path, 'pod')];
    uuid = randomUUID();
    await mkdir(pod);
    await mkdir(join(folder.path, 'bin'));
    // Created by an earlier version's `mkdir -p -m 0700 MOUNTS/UID`.
    await mkdir(MOUNTS, { recursive: true });
    await chmod(MOUNTS, 0o755);
  });
  afterEach(async () => {
    await execa('umount', [pod], { reject: false });
    // The namespace ends shortly after its last process.
    await until('no mount of the device is left', async () =>
      (await mountsOf()).length === 0 ? true : undefined,
    );
    await execa('losetup', ['-d', device]);
    await folder.remove();
  });

  async function make(type: FsType): Promise<void> {
    await writeFile(file, '');
    await truncate(file, 310 * MIB);
    await execa(
      `mkfs.${type}`,
      type === 'xfs' ? ['-q', '-m', `uuid=${uuid}`, file] : ['-q', '-U', uuid, file],
    );
    await truncate(file, 620 * MIB);
    device = (await execa('losetup', ['-f', '--show', file])).stdout;
  }

  const grow = (type: FsType, uid = uuid) =>
    execa('sh', scriptArgv('stowage-grow', device, uid, type).slice(1), {
      reject: false,
      env: { PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` },
    });

  /**
   * Returns the mount points of the device in the mount namespace of each process, as `PID PATH`.
   */
  async function mountsOf(): Promise<string[]> {
    const found: string[] = [];
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const text = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '');
      for (const line of text.split('\n')) {
        const words = line.split(' ');
        if (words.includes(device)) found.push(`${pid} ${words[4]}`);
      }
    }
    return found;
  }
  const here = async () => (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');

  test.each(TYPES)('grows an %s to its device, and leaves no mount', async (type) => {
    await make(type);
    expect(await grow(type)).toMatchObject({ exitCode: 0 });
    expect((await here()).filter((line) => line.includes(MOUNTS))).toEqual([]);
    expect(await readdir(MOUNTS)).toEqual([]);
    expect((await stat(MOUNTS)).mode & 0o777).toBe(0o700);
    await execa('mount', [device, pod]);
    const { stdout } = await execa('df', ['-B1M', '--output=size', pod]);
    expect(Number(stdout.split('\n')[1])).toBeGreaterThan(500);
  });

  test.each(TYPES)('grows an %s that a pod has mounted', async (type) => {
    await make(type);
    await execa('mount', [device, pod]);
    await writeFile(join(pod, 'data'), 'x');
    expect(await grow(type)).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(pod, 'data'), 'utf8')).toBe('x');
    const { stdout } = await execa('df', ['-B1M', '--output=size', pod]);
    expect(Number(stdout.split('\n')[1])).toBeGreaterThan(500);
  });

  test('mounts in a private namespace, and leaves no mount when killed', async () => {
    await make('xfs');
    const begun = join(folder.path, 'begun');
    const slow = join(folder.path, 'bin', 'xfs_growfs');
    await writeFile(slow, `#!/bin/sh\ntouch ${begun}\nexec sleep 600\n`);
    await chmod(slow, 0o755);
    const running = grow('xfs');
    await until('the growth has begun', async () =>
      (await stat(begun).catch(() => undefined)) ? true : undefined,
    );
    const seen = await mountsOf();
    expect(new Set(seen.map((each) => each.split(' ')[1]))).toEqual(new Set([MOUNTS]));
    expect((await here()).filter((line) => line.includes(device))).toEqual([]);
    expect((await stat(MOUNTS)).mode & 0o777).toBe(0o700);
    running.kill('SIGKILL');
    await running;
    await until('the namespace has ended', async () =>
      (await mountsOf()).length === 0 ? true : undefined,
    );
    await rm(slow);
    expect(await grow('xfs')).toMatchObject({ exitCode: 0 });
  });

  test('refuses a device that holds another file system', async () => {
    await make('ext4');
    const ended = await grow('ext4', randomUUID());
    expect(ended).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('does not contain the file'),
    });
    expect((await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', device])).stdout).toBe(uuid);
  });
});
