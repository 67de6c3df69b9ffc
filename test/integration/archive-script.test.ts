import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import { describeAsRoot } from '../support/root.ts';
import { listFiles, makeFiles } from '../support/some-files.ts';
import { allowSources } from '../support/source-server.ts';
import { type Member, tarOf } from '../support/tar.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const NO_CAPABILITY = 'SCHILY.xattr.security.capability';
/** cap_setuid=ep, as the kernel stores it. */
const CAPABILITY = `\x01\x00\x00\x02\x80${'\x00'.repeat(15)}`;

describeAsRoot('an archive that is unpacked', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let archive: string;
  let partial: string;
  let mounts: string;
  let disallow: (() => Promise<void>) | undefined;
  const uid = randomUUID();

  beforeAll(async () => {
    folder = await temporaryDirectory('archive');
    archive = join(folder.path, 'archive');
    partial = join(folder.path, `${uid}.partial`);
    await mkdir(join(folder.path, 'mnt'));
    disallow = await allowSources(`path ${folder.path}`, `backups ${folder.path}/backups`);
  });
  afterAll(async () => {
    await disallow?.();
    await folder.remove();
  });
  beforeEach(async () => {
    mounts = await readFile('/proc/mounts', 'utf8');
    await make('ext4', 32);
  });
  afterEach(async () => {
    await rm(partial, { force: true });
    await rm(archive, { force: true });
  });

  async function make(type: 'ext4' | 'xfs', mib: number): Promise<void> {
    await rm(partial, { force: true });
    await writeFile(partial, '');
    await truncate(partial, mib << 20);
    await execa(`mkfs.${type}`, ['-q', partial]);
  }

  interface How {
    type?: string;
    compression?: string;
    allowed?: string;
    sha256?: string;
    source?: string;
    /** Directory of programs that precede the real ones in PATH. */
    programs?: string;
  }
  const start = ({
    type = 'ext4',
    compression = 'none',
    allowed = 'plain',
    sha256 = '-',
    source = archive,
    programs,
  }: How = {}) => {
    const words = [partial, uid, type, '0', '1', 'zeroes', compression, allowed, sha256, source];
    const argv = scriptArgv('stowage-archive', ...words);
    const env = programs === undefined ? {} : { PATH: `${programs}:${process.env.PATH}` };
    return execa(argv[0] as string, argv.slice(1), { reject: false, cwd: '/', input: '\n\n', env });
  };

  async function expectNothingLeft(): Promise<void> {
    expect((await execa('losetup', ['-j', partial])).stdout).toBe('');
    expect(await readFile('/proc/mounts', 'utf8')).toBe(mounts);
    expect(await readdir('/run/stowage/mounts')).toEqual([]);
  }

  /** Mounts the file system, and passes the mount point to `see`. @returns its result */
  async function look<T>(see: (place: string) => Promise<T>): Promise<T> {
    const place = join(folder.path, 'mnt');
    await execa('mount', ['-o', 'ro,loop', partial, place]);
    try {
      return await see(place);
    } finally {
      await execa('umount', [place]);
    }
  }

  test('unpacking detaches a loop device that an earlier attempt left', async () => {
    await writeFile(archive, tarOf([{ name: 'a', data: 'b' }]));
    await execa('losetup', ['-f', partial]);
    expect(await start()).toMatchObject({ exitCode: 0 });
    await expectNothingLeft();
  });

  describe('at a path', () => {
    const GOOD = tarOf([{ name: 'a', data: 'b' }]);
    const CONFIG = '/etc/stowage/sources.conf';

    test.each([
      ['sources.conf', CONFIG, 0o664, 0o644],
      ['its directory', '/etc/stowage', 0o777, 0o755],
    ])('is not read if other users can write to %s', async (_, path, mode, before) => {
      await writeFile(archive, GOOD);
      await chmod(path, mode);
      try {
        expect(await start()).toMatchObject({
          exitCode: 3,
          stderr: expect.stringContaining(`${CONFIG} on this node is not used`),
        });
      } finally {
        await chmod(path, before);
      }
    });

    test('in a backup directory is read only for the Backup in its record', async () => {
      const among = join(folder.path, 'backups', 'archive');
      await mkdir(join(folder.path, 'backups'), { recursive: true });
      await writeFile(among, GOOD);
      await writeFile(archive, GOOD);
      expect(await start({ source: among })).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining(
          'Files in a directory of backups are only read for their Backups',
        ),
      });
      await make('ext4', 32);
      expect(await start({ source: `backup:${uid}:${archive}` })).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('add a line backups DIRECTORY there'),
      });
      await make('ext4', 32);
      const backup = {
        source: `backup:${uid}:${among}`,
        sha256: createHash('sha256').update(GOOD).digest('hex'),
      };
      const record = join(folder.path, 'backups', '.archive.stowage');
      const unrecorded = {
        exitCode: 3,
        stderr: expect.stringMatching(
          `this node has no record that ${among} is the archive .*: echo ${uid} ${backup.sha256} >${record}$`,
        ),
      };
      expect(await start(backup)).toMatchObject(unrecorded);
      for (const line of [
        `${randomUUID()} ${backup.sha256}`,
        `${uid} ${'0'.repeat(64)}`,
        uid,
        '',
      ]) {
        await make('ext4', 32);
        await writeFile(record, `${line}\n`);
        expect(await start(backup)).toMatchObject(unrecorded);
      }
      await make('ext4', 32);
      await writeFile(record, `${uid} ${backup.sha256}\n`);
      expect(await start({ ...backup, source: `backup::${among}` })).toMatchObject({ exitCode: 3 });
      await make('ext4', 32);
      expect(await start(backup)).toMatchObject({ exitCode: 0, stderr: '' });
    });

    test('is not read if the path is replaced by a link after its resolution', async () => {
      const outside = await temporaryDirectory('outside');
      try {
        const programs = join(outside.path, 'bin');
        await mkdir(programs);
        await writeFile(join(outside.path, 'archive'), GOOD);
        await writeFile(archive, GOOD);
        // Replaces the path by a link right after the script has resolved it.
        const exchange = `[ "$1" != -m ] || ln -sfn ${outside.path}/archive ${archive}`;
        const realpath = join(programs, 'realpath');
        await writeFile(
          realpath,
          `#!/bin/sh\nPATH=\${PATH#*:}\nrealpath "$@" || exit\n${exchange}\n`,
        );
        await chmod(realpath, 0o755);
        expect(await start({ programs })).toMatchObject({
          exitCode: 3,
          stderr: expect.stringContaining(
            `leads to ${outside.path}/archive, which is in no directory`,
          ),
        });
      } finally {
        await outside.remove();
      }
    });
  });

  const file = (name: string, more: Partial<Member> = {}): Member => ({
    name,
    data: 'evil',
    ...more,
  });
  const symlink = (name: string, to: string): Member => ({ name, type: 'symbolic link', link: to });
  const hardLink = (name: string, to: string): Member => ({ name, type: 'hard link', link: to });
  const device = (
    name: string,
    major: number,
    minor: number,
    type: Member['type'] = 'block device',
  ) => ({
    ...{ name, type, mode: 0o666 },
    device: [major, minor] as [number, number],
  });
  const OUT = /^the archive has names that lead out of the volume: tar: .*/;
  const DEVICE = /^the archive has a device file, which is not allowed: .*disk/;
  const SETUID = /^the archive has a setuid or setgid program, which is not allowed: \/(bin\/)?su$/;

  test.each<[string, Member[], RegExp]>([
    ['a name with ..', [file('../evil')], OUT],
    ['.. in the middle of a name', [file('a/../../evil')], OUT],
    ['a name with .. that stays inside', [file('a/../evil')], OUT],
    ['an absolute name', [file('/evil')], OUT],
    ['the parent directory', [{ name: '..', type: 'folder', mode: 0o777 }], OUT],
    ['a hard link to an absolute name', [hardLink('h', '/etc/passwd')], OUT],
    ['a hard link to a name with ..', [hardLink('h', '../../../etc/passwd')], OUT],
    ['a hard link to a missing member', [hardLink('h', 'etc/passwd')], /Cannot hard link/],
    [
      'a hard link through a symbolic link',
      [symlink('l', '/'), hardLink('h', 'l/usr/bin/sh')],
      /cannot be unpacked: tar: l\/usr\/bin\/sh: Cannot stat/,
    ],
    [
      'a file through an absolute link',
      [symlink('l', '/'), file('l/evil')],
      /tar: l\/evil: Cannot open/,
    ],
    [
      'a file through a link with ..',
      [symlink('l', '..'), file('l/evil')],
      /tar: l\/evil: Cannot open/,
    ],
    [
      'a file through two links',
      [symlink('a', 'b'), symlink('b', '../..'), file('a/evil')],
      /tar: a\/evil: Cannot open/,
    ],
    [
      'a directory that becomes a link',
      [{ name: 'd', type: 'folder', mode: 0o755 }, symlink('d', '/usr/bin'), file('d/evil')],
      /^the archive cannot be unpacked: tar: d/,
    ],
    ['a block device', [device('disk', 8, 0)], DEVICE],
    ['a character device', [device('disk', 1, 1, 'character device')], DEVICE],
    ['a whiteout (device 0:0)', [device('disk', 0, 0, 'character device')], DEVICE],
    [
      'a device with a hard link',
      [device('disk', 0, 0, 'character device'), hardLink('h', 'disk')],
      /device file/,
    ],
    ['a setuid program', [file('su', { mode: 0o4755 })], SETUID],
    ['a setgid program', [file('bin/su', { mode: 0o2755 })], SETUID],
    [
      'a setuid program whose name is a line break',
      [file('\n', { mode: 0o4755 })],
      /setuid or setgid program.*: \/$/,
    ],
    [
      'a program with capabilities',
      [file('ping', { mode: 0o755, pax: { [NO_CAPABILITY]: CAPABILITY } })],
      /^the archive has a program with capabilities, which is not allowed: .*'ping'/,
    ],
    [
      'a member of an unknown type',
      [file('x', { type: 'unknown' })],
      /cannot be unpacked: tar: x: Unknown file type/,
    ],
    [
      'a header of 2 GiB',
      [{ name: 'pax', type: 'file', size: 2 ** 31, pax: { path: 'x' } }, file('y')],
      /^the archive cannot be unpacked: tar: /,
    ],
    ['nothing at all', [], /no end|does not look like a tar/],
  ])('is refused with %s, and nothing is left', async (_what, members, message) => {
    const good: Member = { name: 'good', data: 'good' };
    await writeFile(
      archive,
      members.length === 0 ? '' : tarOf([good, ...members, { name: 'after', data: 'x' }]),
    );
    const ended = await start();
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.split('\n')).toHaveLength(1);
    expect(ended).toMatchObject({ exitCode: 3, stdout: '' });
    expect(existsSync(partial)).toBe(false);
    await expectNothingLeft();
    for (const place of [
      '/evil',
      '/usr/evil',
      '/usr/bin/evil',
      join(folder.path, 'evil'),
      '/run/stowage/evil',
    ]) {
      expect(existsSync(place)).toBe(false);
    }
  });

  test('keeps device files and setuid programs only if both are allowed', async () => {
    const members = [
      device('disk', 8, 0),
      file('su', { mode: 0o4755 }),
      file('ping', { mode: 0o755, pax: { [NO_CAPABILITY]: CAPABILITY } }),
    ];
    await writeFile(archive, tarOf(members));
    expect((await start({ allowed: 'devices' })).stderr).toMatch(/with capabilities|setuid/);
    await make('ext4', 32);
    expect((await start({ allowed: 'setuid' })).stderr).toMatch(/device file/);
    await make('ext4', 32);
    expect(await start({ allowed: 'devices+setuid' })).toMatchObject({ exitCode: 0, stderr: '' });
    await expectNothingLeft();
    await look(async (place) => {
      expect((await stat(join(place, 'disk'))).isBlockDevice()).toBe(true);
      expect((await stat(join(place, 'su'))).mode & 0o7777).toBe(0o4755);
      const { stdout } = await execa('tar', [
        '-c',
        '--xattrs',
        '--xattrs-include=*',
        '-C',
        place,
        'ping',
      ]);
      expect(stdout).toContain(NO_CAPABILITY);
    });
  });

  const many = (count: number, data: Buffer): Member[] =>
    Array.from({ length: count }, (_each, index) => ({ name: `f${index}`, data }));

  /**
   * Returns an xz file that claims to need 1.5 GiB: the dictionary's size is in the header of its
   * first block, before a checksum.
   */
  function greedy(): Buffer {
    const bytes = execFileSync('xz', ['-c'], { input: tarOf(many(1, Buffer.alloc(9))) });
    const end = 12 + (bytes.readUInt8(12) + 1) * 4 - 4;
    bytes.writeUInt8(37, bytes.indexOf(Buffer.from([0x21, 0x01]), 12) + 2);
    bytes.writeUInt32LE(crc32(bytes.subarray(12, end)), end);
    return bytes;
  }

  test.each<[string, () => Buffer, How, RegExp]>([
    [
      'an xz that takes too much memory',
      greedy,
      { compression: 'xz' },
      /is not xz: xz: .*Memory usage limit/,
    ],
    [
      'more than the volume holds',
      () => tarOf(many(5, Buffer.alloc(8 << 20, 'x'))),
      {},
      /does not fit.*No space left/,
    ],
    [
      'more files than the volume has room for',
      () => tarOf(many(20_000, Buffer.alloc(0))),
      {},
      /does not fit/,
    ],
    [
      'a decompression bomb',
      () => gzipSync(tarOf([{ name: 'zeros', data: Buffer.alloc(64 << 20) }])),
      { compression: 'gzip' },
      /does not fit/,
    ],
    [
      'a truncated member',
      () => tarOf(many(1, Buffer.alloc(4096))).subarray(0, 2048),
      {},
      /Unexpected EOF/,
    ],
    [
      'no end marker',
      () => tarOf(many(3, Buffer.alloc(4096, 'x')), { end: false }),
      {},
      /^the archive has no end/,
    ],
    [
      'half an end marker',
      () => tarOf(many(3, Buffer.alloc(4096))).subarray(0, -512),
      {},
      /no end|lone zero block/,
    ],
    [
      'truncated gzip',
      () => gzipSync(tarOf(many(3, Buffer.alloc(4096)))).subarray(0, -9),
      { compression: 'gzip' },
      /damaged, or its compression is not gzip: gzip: .*unexpected end/,
    ],
    [
      'truncated zstd',
      () => zstdCompressSync(tarOf(many(3, Buffer.alloc(4096)))).subarray(0, -9),
      { compression: 'zstd' },
      /damaged, or its compression is not zstd: /,
    ],
    [
      'invalid gzip',
      () => Buffer.alloc(512, 'x'),
      { compression: 'gzip' },
      /compression is not gzip: gzip: .*not in gzip format/,
    ],
    [
      'invalid zstd',
      () => Buffer.alloc(512, 'x'),
      { compression: 'zstd' },
      /compression is not zstd: zstd: .*unsupported format/,
    ],
    [
      'gzip declared as tar',
      () => gzipSync(tarOf(many(1, Buffer.alloc(9)))),
      {},
      /^the source begins like data compressed with gzip, and should be a tar archive/,
    ],
    [
      'a tar declared as gzip',
      () => tarOf(many(1, Buffer.alloc(9))),
      { compression: 'gzip' },
      /begins like a tar archive, and by its name or spec.compression should be compressed with gzip/,
    ],
    [
      'gzip declared as xz',
      () => gzipSync(tarOf(many(1, Buffer.alloc(9)))),
      { compression: 'xz' },
      /begins like data compressed with gzip, and by its name or spec.compression should be compressed with xz/,
    ],
    [
      'an HTML page',
      () => Buffer.from('<html>Log in</html>'),
      { compression: 'auto' },
      /begins like an HTML page/,
    ],
    [
      'a zip',
      () => Buffer.from('PK\x03\x04\x14\0'),
      { compression: 'auto' },
      /begins like a zip archive/,
    ],
    [
      'xz without a tar',
      () => execFileSync('xz', ['-c'], { input: Buffer.alloc(5000, 'x') }),
      { compression: 'auto' },
      /tar/,
    ],
    [
      'a wrong checksum',
      () => tarOf(many(1, Buffer.alloc(9))),
      { sha256: '0'.repeat(64) },
      /^the sha256 of \S+ is not 0{64}$/,
    ],
    [
      'a wrong checksum, and no tar',
      () => Buffer.alloc(5000, 'x'),
      { sha256: '0'.repeat(64) },
      /^the sha256 of /,
    ],
  ])('is refused with %s', async (_what, bytes, how, message) => {
    await writeFile(archive, bytes());
    const ended = await start(how);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.split('\n')).toHaveLength(1);
    expect(ended.exitCode).toBe(3);
    expect(existsSync(partial)).toBe(false);
    await expectNothingLeft();
  });

  test.each([
    ['none', 'ext4', 32, 'none'],
    ['none', 'ext4', 32, 'auto'],
    ['gzip', 'ext4', 32, 'gzip'],
    ['zstd', 'xfs', 310, 'zstd'],
    ['xz', 'ext4', 32, 'xz'],
    ['xz', 'ext4', 32, 'auto'],
    ['bzip2', 'ext4', 32, 'auto'],
  ] as const)(
    'restores every packed file (%s, %s, %i MiB, declared as %s)',
    async (packed, type, mib, compression) => {
      await make(type, mib);
      const from = join(folder.path, 'from');
      await rm(from, { recursive: true, force: true });
      await mkdir(from);
      await makeFiles(from);
      const pack = [
        'tar',
        '-c',
        '--xattrs',
        '--sparse',
        '--numeric-owner',
        '-C',
        from,
        '-f',
        `${archive}.tar`,
        '.',
      ];
      await execa(pack[0] as string, pack.slice(1));
      const input = await readFile(`${archive}.tar`);
      const bytes =
        packed === 'none' ? input : execFileSync(packed, ['-c'], { input, maxBuffer: Infinity });
      await writeFile(archive, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      expect(await start({ compression, type, sha256 })).toMatchObject({ exitCode: 0, stderr: '' });
      await expectNothingLeft();
      await look(async (place) => expect(await listFiles(place)).toBe(await listFiles(from)));
    },
  );
});
