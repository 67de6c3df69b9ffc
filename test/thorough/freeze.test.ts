import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import {
  killAtOnce,
  type OwnFileSystem,
  ownFileSystem,
  scriptProcesses,
  startWriter,
} from '../support/loop-mounts.ts';
import { describeAsRoot } from '../support/root.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** Duration of a freeze in s. A copy may take 80% of it, and the second watchdog thaws at 90%. */
const SECONDS = 5;

describeAsRoot.each([['xfs'], ['ext4']] as ['xfs' | 'ext4'][])('a mounted, frozen %s', (type) => {
  let clones: OwnFileSystem;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let source: string;
  let partial: string;
  let mount: string;
  let device: string;
  let writer: Awaited<ReturnType<typeof startWriter>>;
  let state: string;
  /** End copies that still run. */
  const copying: (() => void)[] = [];

  beforeAll(async () => {
    clones = await ownFileSystem('xfs');
    folder = await temporaryDirectory('freeze');
    mount = join(folder.path, 'mnt');
    source = join(clones.path, 'volume');
    await mkdir(mount);
    await writeFile(source, '');
    await execa('truncate', ['-s', '400M', source]);
    await execa(`mkfs.${type}`, ['-q', source]);
    device = (await execa('losetup', ['-f', '--show', source])).stdout;
    await execa('mount', [device, mount]);
  });
  afterAll(async () => {
    // Both succeed at once, as no process uses the mount or the device.
    await execa('umount', [mount]);
    await execa('losetup', ['-d', device]);
    await clones.remove();
    await folder.remove();
  });
  beforeEach(async () => {
    const uid = randomUUID();
    partial = join(clones.path, `${uid}.partial`);
    state = `/run/stowage/freezes/${uid}.partial`;
    await rm(join(folder.path, 'bin'), { recursive: true, force: true });
    await mkdir(join(folder.path, 'bin'));
    writer = await startWriter(join(mount, 'written'));
  });
  afterEach(async () => {
    // Cleans up after a failed test.
    for (const end of copying.splice(0)) end();
    await killAtOnce(`dir=${state}`);
    await rm(partial, { force: true });
    await execa('fsfreeze', ['-u', mount], { reject: false });
    await writer.stop();
  });

  /** Creates a program that precedes the real one in PATH. */
  async function program(name: string, text: string): Promise<void> {
    const path = join(folder.path, 'bin', name);
    await writeFile(path, `#!/bin/sh\nPATH=$\{PATH#*:}\n${text}\n`);
    await chmod(path, 0o755);
  }

  function start(mode: string, seconds = SECONDS) {
    const copy = execa(
      'sh',
      scriptArgv('stowage-freeze', mount, String(seconds), source, partial, mode).slice(1),
      {
        reject: false,
        cwd: '/',
        env: { PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` },
      },
    );
    copying.push(() => copy.kill('SIGKILL'));
    return copy;
  }

  const pids = () => scriptProcesses(`dir=${state}`);
  const isFrozen = async () =>
    (await readFile(`${state}/state`, 'utf8').catch(() => '')).startsWith('frozen\n');

  /** Expects that writes continue, and that neither processes nor files remain. */
  async function expectThawed(): Promise<void> {
    await until('no process is left', async () => ((await pids()).size === 0 ? true : undefined));
    expect((await execa('fsfreeze', ['-u', mount], { reject: false })).exitCode).not.toBe(0);
    expect(existsSync(state)).toBe(false);
  }

  test.each(['clone', 'copy'])('is thawed after a complete %s of its file', async (mode) => {
    const ended = await start(mode, 10);
    const gap = await writer.stop();
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    await expectThawed();
    expect(gap).toBeLessThan(10_000);
    // Complete: contains the earlier writes, and needs no repair before a check.
    const check = type === 'xfs' ? ['blkid', '-p'] : ['e2fsck', '-f', '-n'];
    expect((await execa(check[0] as string, [...check.slice(1), partial])).exitCode).toBe(0);
  });

  /** `copyS`: duration of the copy in s. `gapS`: maximum time in s without a write. */
  interface Fault {
    who?: string;
    signal?: NodeJS.Signals;
    copyS: number;
    exit: number | undefined;
    gapS: number;
  }
  test.each<[string, Fault]>([
    ['the copy takes too long', { copyS: 8, exit: 1, gapS: 4.7 }],
    [
      'the copying process is killed',
      { who: 'stowage-freeze', signal: 'SIGKILL', copyS: 8, exit: undefined, gapS: 3.9 },
    ],
    [
      'the copying process is stopped',
      { who: 'stowage-freeze', signal: 'SIGSTOP', copyS: 8, exit: 1, gapS: 4.7 },
    ],
    [
      'the freezing process is killed',
      { who: 'stowage-hold', signal: 'SIGKILL', copyS: 8, exit: 1, gapS: 3.9 },
    ],
    [
      'the freezing process is stopped',
      { who: 'stowage-hold', signal: 'SIGSTOP', copyS: 3, exit: 1, gapS: 5 },
    ],
    [
      'the watchdog is killed',
      { who: 'stowage-thaw', signal: 'SIGKILL', copyS: 2, exit: 0, gapS: 4.7 },
    ],
    [
      'the watchdog is stopped',
      { who: 'stowage-thaw', signal: 'SIGSTOP', copyS: 2, exit: 0, gapS: 4.7 },
    ],
  ])('is thawed in time when %s', async (_, { who, signal, copyS, exit, gapS }) => {
    await program(
      'cp',
      `touch ${join(folder.path, 'bin', 'copies')}\nsleep ${copyS} || exit\nexec cp "$@"`,
    );
    const running = start('copy');
    await until('freeze and copy have begun', async () =>
      existsSync(join(folder.path, 'bin', 'copies')) && (await isFrozen()) ? true : undefined,
    );
    const all = await pids();
    const pid = who === 'stowage-freeze' ? running.pid : all.get(who ?? '');
    if (signal !== undefined) process.kill(pid as number, signal);
    // Blocks until the file system is thawed.
    await execa('touch', [join(mount, 'touched')]);
    const gap = await writer.stop();
    if (signal === 'SIGSTOP' && who === 'stowage-freeze') process.kill(pid as number, 'SIGCONT');
    const ended = await running;
    await expectThawed();
    expect(ended.exitCode).toBe(exit);
    if (exit !== undefined) expect(existsSync(partial)).toBe(exit === 0);
    expect(gap).toBeLessThan(gapS * 1000);
    // Proves that it was frozen.
    if (signal !== 'SIGKILL') expect(gap).toBeGreaterThan(1000);
  });

  test.each<[string, string | undefined]>([
    ['does not end', undefined],
    ['is killed with an unknown result', 'fsfreeze'],
    ['outlives the freezing process', 'stowage-hold'],
  ])('is thawed in time when the freeze %s', async (_, killed) => {
    const begun = join(folder.path, 'bin', 'freezes');
    await program(
      'fsfreeze',
      `fsfreeze "$@" || exit\n[ "$1" = -u ] || { touch ${begun}; exec sleep 8; }`,
    );
    const running = start('clone');
    await until('the freeze has begun', async () => (existsSync(begun) ? true : undefined));
    const all = await pids();
    const pid = killed === 'fsfreeze' ? all.get('sleep') : all.get(killed ?? '');
    if (killed !== undefined) process.kill(pid as number, 'SIGKILL');
    await execa('touch', [join(mount, 'touched')]);
    const gap = await writer.stop();
    expect((await running).exitCode).toBe(1);
    await expectThawed();
    expect(existsSync(partial)).toBe(false);
    expect(gap).toBeLessThan(5000);
  });

  const thaw = (of = partial) =>
    execa('sh', scriptArgv('stowage-freeze', 'thaw', of).slice(1), {
      reject: false,
      cwd: '/',
      env: { PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` },
    });
  const tryToThaw = async () =>
    (await execa('fsfreeze', ['-u', mount], { reject: false })).exitCode;

  /** Kills all processes at once, as by a cgroup: none remains to thaw the file system. */
  async function killAll(): Promise<void> {
    // A single process: another one could start while processes are listed.
    await program('cp', `touch ${join(folder.path, 'bin', 'copies')}\nexec sleep 60`);
    const running = start('copy', 60);
    await until('freeze and copy have begun', async () =>
      existsSync(join(folder.path, 'bin', 'copies')) && (await isFrozen()) ? true : undefined,
    );
    const watchdogs = await pids();
    expect([...watchdogs.keys()]).toEqual(expect.arrayContaining(['stowage-hold', 'stowage-thaw']));
    await killAtOnce(`dir=${state}`, [running.pid as number]);
    await running;
    await until('no process is left', async () => ((await pids()).size === 0 ? true : undefined));
    await rm(join(folder.path, 'bin', 'cp'));
  }

  /** Kills fsfreeze at the first `times` attempts to thaw. */
  async function thawingKilled(times: number): Promise<void> {
    const left = join(folder.path, 'bin', 'left');
    await writeFile(left, `${times}\n`);
    const killed = `[ "$left" = 0 ] || { echo $((left - 1)) >${left}; kill -9 $$; }`;
    await program(
      'fsfreeze',
      `read -r left <${left}\n[ "$1" != -u ] || ${killed}\nexec fsfreeze "$@"`,
    );
  }

  test.each([
    ['by the freezing process, in time', 1, 0],
    ['by the watchdog', 5, 1],
    ['by the copying process', 10, 1],
  ])('is thawed although attempts are killed, %s', async (_, times, exit) => {
    await thawingKilled(times);
    const ended = await start('clone');
    const gap = await writer.stop();
    await expectThawed();
    expect(ended.exitCode).toBe(exit);
    expect(existsSync(partial)).toBe(exit === 0);
    expect(gap).toBeLessThan(SECONDS * 1000);
  });

  test('stays recorded as frozen until a later attempt thaws it', async () => {
    await thawingKilled(16);
    expect((await start('clone')).exitCode).toBe(1);
    expect(await isFrozen()).toBe(true);
    const env = { PATH: `${join(folder.path, 'bin')}:${process.env.PATH}` };
    const next = () =>
      execa('sh', scriptArgv('stowage-freeze', 'thaw', partial).slice(1), {
        ...{ reject: false, cwd: '/', env },
      });
    expect(await next()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cannot be thawed'),
    });
    expect(await isFrozen()).toBe(true);
    expect(await next()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('thawed') });
    await writer.stop();
    await expectThawed();
  });

  test('is thawed by the copying process if both watchdogs are killed', async () => {
    await program(
      'cp',
      `touch ${join(folder.path, 'bin', 'copies')}\nsleep 2 || exit\nexec cp "$@"`,
    );
    const running = start('copy');
    await until('freeze and copy have begun', async () =>
      existsSync(join(folder.path, 'bin', 'copies')) && (await isFrozen()) ? true : undefined,
    );
    const all = await pids();
    for (const who of ['stowage-thaw', 'stowage-hold'])
      process.kill(all.get(who) as number, 'SIGKILL');
    expect((await running).exitCode).toBe(1);
    const gap = await writer.stop();
    await expectThawed();
    expect(existsSync(partial)).toBe(false);
    expect(gap).toBeLessThan(SECONDS * 1000);
  });

  describe('after all processes were killed at once', () => {
    test('is thawed by the next copy of the file', async () => {
      await killAll();
      const another = join(clones.path, `${randomUUID()}.partial`);
      const how = [mount, '10', source, another, 'clone'];
      const ended = await execa('sh', scriptArgv('stowage-freeze', ...how).slice(1));
      expect(ended.stderr).toBe(
        `thawed ${mount}: an interrupted copy of ${source} had left it frozen`,
      );
      await rm(another);
      await writer.stop();
      await expectThawed();
    });

    test('is thawed by a retry of the same copy', async () => {
      await killAll();
      expect(await start('clone', 10)).toMatchObject({ exitCode: 0 });
      expect(existsSync(partial)).toBe(true);
      await writer.stop();
      await expectThawed();
    });

    test('is thawed once by the deletion of the copy', async () => {
      await killAll();
      expect(await thaw()).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining('thawed'),
      });
      await execa('touch', [join(mount, 'touched')]);
      expect(await thaw()).toMatchObject({ exitCode: 0, stderr: '' });
      await writer.stop();
      await expectThawed();
    });

    test('is thawed even if it was unmounted, which leaves it frozen', async () => {
      // A blocked writer would keep it mounted.
      await writer.stop();
      await killAll();
      await execa('umount', [mount]);
      try {
        expect(await thaw()).toMatchObject({
          exitCode: 0,
          stderr: expect.stringContaining('thawed'),
        });
      } finally {
        await execa('mount', [device, mount]);
      }
      await execa('touch', [join(mount, 'touched')]);
      await expectThawed();
    });

    test.each([
      ['mount', 'exit 32'],
      ['unshare', 'exit 1'],
    ])(
      'stays recorded if unmounted and %s fails, and is thawed by the next attempt',
      async (name, text) => {
        await writer.stop();
        await killAll();
        await execa('umount', [mount]);
        try {
          await program(name, text);
          expect(await thaw()).toMatchObject({
            exitCode: 1,
            stderr: expect.stringContaining('cannot be thawed'),
          });
          expect(await isFrozen()).toBe(true);
          await rm(join(folder.path, 'bin', name));
          expect(await thaw()).toMatchObject({
            exitCode: 0,
            stderr: expect.stringContaining('thawed'),
          });
        } finally {
          await execa('mount', [device, mount]);
        }
        await execa('touch', [join(mount, 'touched')]);
        await expectThawed();
      },
    );

    test('is not thawed if someone else has frozen it since', async () => {
      await killAll();
      expect(await tryToThaw()).toBe(0);
      await execa('fsfreeze', ['-f', mount]);
      expect(await thaw()).toMatchObject({ exitCode: 0, stderr: '' });
      expect(existsSync(state)).toBe(false);
      expect(await tryToThaw()).toBe(0);
      await writer.stop();
    });

    test('is not thawed if its file was changed since', async () => {
      await killAll();
      await chmod(source, 0o640);
      expect(await thaw()).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await tryToThaw()).toBe(0);
      await writer.stop();
    });

    test.each([
      ['is thawed if it was frozen right after', 0, true],
      ['is not thawed if it was frozen an hour later', -3600, false],
      ['is not thawed if it was frozen before', 1, false],
    ])('with an incomplete record: %s', async (_, seconds, isOurs) => {
      await killAll();
      const [, device = '', file = ''] = (await readFile(join(state, 'state'), 'utf8')).split('\n');
      await writeFile(join(state, 'state'), `freezing\n${device}\n${file}\n60\n`);
      const began = new Date((await stat(source)).ctimeMs - 5 + seconds * 1000);
      await utimes(join(state, 'state'), began, began);
      expect((await thaw()).stderr.includes('thawed')).toBe(isOurs);
      expect(await tryToThaw()).toBe(isOurs ? 1 : 0);
      await writer.stop();
    });
  });

  test('is neither thawed nor copied again while a copy runs', async () => {
    await program(
      'cp',
      `touch ${join(folder.path, 'bin', 'copies')}\nsleep 3 || exit\nexec cp "$@"`,
    );
    const running = start('copy', 10);
    await until('freeze and copy have begun', async () =>
      existsSync(join(folder.path, 'bin', 'copies')) && (await isFrozen()) ? true : undefined,
    );
    const over = `an earlier copy to ${partial} still runs, or the file system that it froze cannot be thawed`;
    expect(await thaw()).toMatchObject({ exitCode: 1, stderr: over });
    expect(await start('copy', 10)).toMatchObject({ exitCode: 1, stderr: over });
    expect(await thaw(join(clones.path, `${randomUUID()}.partial`))).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await isFrozen()).toBe(true);
    expect(await running).toMatchObject({ exitCode: 0, stderr: '' });
    await writer.stop();
    await expectThawed();
  });

  test('is neither copied nor thawed if someone else has frozen it', async () => {
    await execa('fsfreeze', ['-f', mount]);
    const ended = await start('clone');
    expect(ended.exitCode).toBe(1);
    expect(existsSync(partial)).toBe(false);
    // The file system was still frozen.
    expect((await execa('fsfreeze', ['-u', mount], { reject: false })).exitCode).toBe(0);
    await writer.stop();
    await expectThawed();
  });

  test('is refused if the path is not a directory, without opening it', async () => {
    const fifo = join(folder.path, 'fifo');
    await execa('mkfifo', [fifo]);
    const how = [fifo, '5', source, partial, 'clone'];
    // Opening a FIFO blocks until a writer opens it.
    const ended = await execa('sh', scriptArgv('stowage-freeze', ...how).slice(1), {
      reject: false,
    });
    expect(ended).toMatchObject({
      failed: true,
      stderr: expect.stringMatching(/cannot open \S+\/fifo\/\./),
    });
    await writer.stop();
  });

  test('is refused if it is not in the given backing file', async () => {
    const other = join(clones.path, 'other');
    await writeFile(other, 'x'.repeat(4096));
    const how = [mount, '5', other, partial, 'clone'];
    const ended = await execa('sh', scriptArgv('stowage-freeze', ...how).slice(1), {
      reject: false,
    });
    expect(ended).toMatchObject({
      exitCode: 1,
      stderr: `the file system that is mounted at ${mount} is not in ${other}`,
    });
    await writer.stop();
    await expectThawed();
  });
});

describeAsRoot('a file system that cannot clone', () => {
  test('refuses a clone without freezing anything', async () => {
    const clones = await ownFileSystem('ext4', 1n << 29n);
    const folder = await temporaryDirectory('freeze');
    const source = join(clones.path, 'volume');
    const mount = join(folder.path, 'mnt');
    await mkdir(mount);
    await writeFile(source, '');
    await execa('truncate', ['-s', '100M', source]);
    await execa('mkfs.ext4', ['-q', source]);
    await execa('mount', ['-o', 'loop', source, mount]);
    const partial = join(clones.path, `${randomUUID()}.partial`);
    const how = [mount, '5', source, partial, 'clone'];
    const ended = await execa('sh', scriptArgv('stowage-freeze', ...how).slice(1), {
      reject: false,
    });
    await execa('umount', [mount]);
    await clones.remove();
    await folder.remove();
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).toContain('cannot clone files: nothing was frozen');
    expect(existsSync(partial)).toBe(false);
  });
});
