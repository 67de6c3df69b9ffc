import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { fillStep } from '../../src/storage/populate/fill.ts';
import type { Fill, FillTarget } from '../../src/storage/populate/types.ts';
import { SCRIPTS } from '../../src/storage/scripts/scripts.ts';
import { holdPlaces } from '../support/held-places.ts';
import { ownFileSystem } from '../support/loop-mounts.ts';
import { otherScript } from '../support/other-script.ts';
import { describeAsRoot } from '../support/root.ts';
import { allowSources, type SourceServer, startSourceServer } from '../support/source-server.ts';
import { tarOf } from '../support/tar.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const UID = '9a3c1c1e-0000-4000-8000-00000000abcd';
const MIB = 1 << 20;
const SIZE = 64 * MIB;
const OFFSET = MIB;

/** 24 MiB with 8 MiB of zeros in the middle, and 4 MiB at the end. */
const CONTENT = Buffer.concat([
  randomBytes(4 * MIB),
  Buffer.alloc(8 * MIB),
  randomBytes(8 * MIB),
  Buffer.alloc(4 * MIB),
]);
const packBy = (program: 'xz' | 'bzip2', input: Buffer): Buffer =>
  execFileSync(program, ['-c1'], { input, maxBuffer: Infinity });
/** Packed once, as that takes longer than a test. */
const REFUSED = {
  bomb: zstdCompressSync(Buffer.concat([CONTENT, CONTENT, CONTENT])),
  bombXz: packBy('xz', Buffer.alloc(3 * SIZE)),
  tarXz: packBy('xz', tarOf([{ name: 'disk.raw', data: CONTENT }])),
};
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** `changed` modifies the script, so that its timeouts fit in a test. */
type Told = Pick<Fill, 'authorization' | 'namespace'> & { changed?: (script: string) => string };

const PAGE = Buffer.from('<!DOCTYPE html>\n<html><title>Log in</title></html>\n');

describeAsRoot('the script that populates a volume from an Image', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: SourceServer;
  let disallow: () => Promise<void>;
  let partial: string;

  beforeEach(async () => {
    folder = await temporaryDirectory('image');
    partial = join(folder.path, `${UID}.partial`);
    server = await startSourceServer();
    disallow = await allowSources(
      '# of a test',
      '',
      'allow-address 127.0.0.1/32',
      `path ${folder.path}/listed`,
    );
    await mkdir(join(folder.path, 'listed'));
  });
  afterEach(async () => {
    await server.stop();
    await disallow();
    await folder.remove();
  });

  /** Runs the program on a new file, as the plan does. */
  async function fill(
    options: Record<string, string>,
    {
      content = 'block',
      path = partial,
      ...more
    }: { content?: FillTarget['content']; path?: string } & Told = {},
  ) {
    await writeFile(path, '');
    await truncate(path, content === 'block' ? OFFSET + SIZE + MIB : SIZE);
    if (content !== 'block') await execa(`mkfs.${content}`, ['-q', path]);
    const target: FillTarget = {
      ...{ path, uid: UID, content, isZero: true },
      offsetBytes: content === 'block' ? BigInt(OFFSET) : 0n,
      sizeBytes: BigInt(SIZE),
    };
    return fillTarget(target, options, more);
  }

  async function fillTarget(
    target: FillTarget,
    options: Record<string, string>,
    { PATH = process.env.PATH, changed, ...told }: { PATH?: string } & Told = {},
  ) {
    const { argv, stdin = '' } = fillStep(
      { builtin: 'Image', what: 'Image a/b', options, ...told },
      target,
    );
    const [file = '', ...args] =
      changed === undefined
        ? argv
        : otherScript('stowage-image', changed(SCRIPTS['stowage-image']), ...argv.slice(5));
    const { exitCode, all } = await execa(file, args, {
      input: stdin,
      env: { PATH },
      all: true,
      reject: false,
      timeout: 120_000,
    });
    const lines = all.split('\n').filter((line) => !line.startsWith('stowage-progress'));
    return { exit: exitCode, said: lines.join('\n') };
  }

  const left = async () => (await readdir(folder.path)).filter((name) => name.startsWith(UID));
  const loops = async () =>
    (await execa('losetup', ['-a'])).stdout.split('\n').filter((line) => line.includes(UID));

  /** Expects the content in the volume, and no other writes. */
  async function isFilled(content: Buffer): Promise<void> {
    const all = await readFile(partial);
    expect(all.length).toBe(OFFSET + SIZE + MIB);
    expect(sha256(all.subarray(OFFSET, OFFSET + content.length))).toBe(sha256(content));
    expect(all.subarray(0, OFFSET).every((byte) => byte === 0)).toBe(true);
    expect(all.subarray(OFFSET + content.length).every((byte) => byte === 0)).toBe(true);
  }

  const PACKED = {
    none: CONTENT,
    gzip: gzipSync(CONTENT),
    zstd: zstdCompressSync(CONTENT),
    xz: packBy('xz', CONTENT),
    bzip2: packBy('bzip2', CONTENT),
  };
  test.each(['none', 'gzip', 'zstd', 'xz', 'bzip2'] as const)(
    'writes a raw image, packed by %s, with zeros as holes',
    async (compression) => {
      server.paths.set('/disk', PACKED[compression]);
      const options = {
        source: server.url('/disk'),
        compression,
        sha256: sha256(PACKED[compression]),
      };
      expect(await fill(options)).toEqual({ exit: 0, said: '' });
      await isFilled(CONTENT);
      const { blocks } = await stat(partial);
      expect(blocks * 512).toBeLessThan(13 * MIB);
      expect(await left()).toEqual([`${UID}.partial`]);
    },
  );

  test.each(['gzip', 'zstd', 'xz', 'bzip2'] as const)(
    'detects the compression by the first bytes: %s',
    async (compression) => {
      server.paths.set('/disk', PACKED[compression]);
      expect(await fill({ source: server.url('/disk') })).toEqual({ exit: 0, said: '' });
      await isFilled(CONTENT);
    },
  );

  test('writes data that is declared as uncompressed unchanged', async () => {
    server.paths.set('/disk', PACKED.xz);
    expect(await fill({ source: server.url('/disk'), compression: 'none' })).toEqual({
      exit: 0,
      said: '',
    });
    await isFilled(PACKED.xz);
  });

  async function qcow2(...create: string[]): Promise<Buffer> {
    const raw = join(folder.path, 'raw');
    const made = join(folder.path, 'made');
    await writeFile(raw, CONTENT);
    if (create.length === 0)
      await execa('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', '-c', raw, made]);
    else
      await execa('qemu-img', [
        'create',
        '-q',
        '-f',
        'qcow2',
        ...create,
        made,
        ...(create.includes('-b') ? [] : [String(24 * MIB)]),
      ]);
    return readFile(made);
  }

  describe('a qcow2 for a logical volume', () => {
    // Some kernels have no device-mapper: the test uses a loop device with such a path, and an lvs
    // that reports it as linear.
    const PLACE = '/dev/stowage-test';
    const RECORDS = '/var/lib/stowage/volumes';
    let device: string;
    let PATH: string;
    beforeEach(async () => {
      const bin = join(folder.path, 'bin');
      await mkdir(bin);
      await writeFile(join(bin, 'lvs'), '#!/bin/sh\necho "  linear"\n');
      await chmod(join(bin, 'lvs'), 0o755);
      PATH = `${bin}:${process.env.PATH}`;
      const file = join(folder.path, 'extents');
      await writeFile(file, randomBytes(SIZE));
      device = (await execa('losetup', ['--find', '--show', file])).stdout;
      await mkdir(PLACE);
      await symlink(device, join(PLACE, 'disk'));
      await mkdir(RECORDS, { recursive: true });
      server.paths.set('/disk', await qcow2());
    });
    afterEach(async () => {
      await rm(PLACE, { recursive: true });
      await execa('losetup', ['--detach', device]);
    });

    const onDevice = () => {
      const target: FillTarget = {
        ...{ path: join(PLACE, 'disk'), uid: UID, content: 'block', isZero: false },
        ...{ offsetBytes: 0n, sizeBytes: BigInt(SIZE) },
      };
      return fillTarget(target, { source: server.url('/disk'), format: 'qcow2' }, { PATH });
    };
    const leftThere = async () => (await readdir(RECORDS)).filter((name) => name.includes(UID));

    test('is downloaded to /var/lib/stowage/volumes, and written with its zeros', async () => {
      expect(await onDevice()).toEqual({ exit: 0, said: '' });
      expect(sha256((await readFile(device)).subarray(0, CONTENT.length))).toBe(sha256(CONTENT));
      expect(await leftThere()).toEqual([]);
    });

    test('fails, and may be retried, if there is no space for the download', async () => {
      await execa('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', RECORDS]);
      try {
        expect(await onDevice()).toEqual({
          exit: 1,
          said: expect.stringMatching(
            /^the file system of \/var\/lib\/stowage on this node is too full/,
          ),
        });
        expect(await leftThere()).toEqual([]);
      } finally {
        await execa('umount', [RECORDS]);
      }
    });

    test.each([
      ['alone', 1, []],
      ['beside a running job', 32 * MIB, ['held']],
      ['beside an ended job', 32 * MIB, ['ended']],
    ])('is counted against the scratch limit of the node: %s', async (_, most, [other]) => {
      const list = ['allow-address 127.0.0.1/32', `scratch ${most}`];
      const again = await allowSources(...list);
      const places = '/run/stowage/fills';
      await mkdir(places, { recursive: true });
      await writeFile(`${places}/9.scratch`, `${20 * MIB}\n`);
      const hold = ['--no-fork', `${places}/9`, 'sh', '-c', 'echo held; exec sleep 60'];
      const holder = other === 'held' ? execa('flock', hold, { reject: false }) : undefined;
      try {
        await new Promise((held) => (holder ? holder.stdout?.once('data', held) : held(undefined)));
        const refused = {
          exit: 1,
          said: expect.stringContaining(`may take ${most} bytes at once, and this one needs more`),
        };
        expect(await onDevice()).toEqual(other === 'ended' ? { exit: 0, said: '' } : refused);
        expect(await leftThere()).toEqual([]);
      } finally {
        holder?.kill('SIGKILL');
        await holder;
        await again();
      }
    });
  });

  test.each(['none', 'zstd'] as const)('writes a qcow2, packed by %s', async (compression) => {
    const image = await qcow2();
    server.paths.set('/disk', compression === 'none' ? image : zstdCompressSync(image));
    expect(await fill({ source: server.url('/disk'), compression, format: 'qcow2' })).toEqual({
      exit: 0,
      said: '',
    });
    await isFilled(CONTENT);
    expect(await left()).toEqual([`${UID}.partial`]);
  });

  test.each([
    ['ext4', 'raw'],
    ['ext4', 'qcow2'],
  ] as const)('writes disk.img to an %s from a %s image', async (content, format) => {
    server.paths.set('/disk', format === 'raw' ? CONTENT : await qcow2());
    expect(await fill({ source: server.url('/disk'), format }, { content })).toEqual({
      exit: 0,
      said: '',
    });
    const place = join(folder.path, 'mnt');
    await mkdir(place);
    await execa('mount', ['-o', 'loop,ro', partial, place]);
    try {
      expect((await readdir(place)).sort()).toEqual(['disk.img', 'lost+found']);
      expect(sha256(await readFile(join(place, 'disk.img')))).toBe(sha256(CONTENT));
      expect((await stat(join(place, 'disk.img'))).blocks * 512).toBeLessThan(13 * MIB);
    } finally {
      await execa('umount', [place]);
    }
  });

  test('reads a file of a directory that the node lists', async () => {
    await writeFile(join(folder.path, 'listed', 'disk'), CONTENT);
    expect(await fill({ source: `${folder.path}/listed/disk` })).toEqual({ exit: 0, said: '' });
    await isFilled(CONTENT);
  });

  const to =
    (location: () => string) => (_request: unknown, response: import('node:http').ServerResponse) =>
      response.writeHead(302, { Location: location() }).end();

  test('curl runs without privileges, and no process list shows the query', async () => {
    server.paths.set('/slow?sig=S3CRET', (_request, response) => {
      response.writeHead(200, { 'Content-Length': CONTENT.length });
      response.write(CONTENT.subarray(0, MIB));
    });
    const filling = fill(
      { source: server.url('/slow?sig=S3CRET') },
      { authorization: 'Bearer S3CRET' },
    );
    await until('the download has begun', async () => server.asked.length > 0 || undefined);
    const pid = (await execa('pgrep', ['-x', '-f', `curl .* ::127.0.0.1:${server.port}.*`])).stdout;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65521\t65521\t65521\t65521$/m);
    expect(status).toMatch(/^Groups:\t $/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toMatch(`Cap${set}:\t0000000000000000`);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect((await readdir(`/proc/${pid}/root`)).sort()).toEqual(
      expect.not.arrayContaining(['proc', 'root', 'run', 'sys']),
    );
    expect(await readdir(`/proc/${pid}/root/etc`)).not.toContain('shadow');
    expect(await readdir(`/proc/${pid}/root/new`)).toEqual(['config']);
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('stowage');
    await expect(writeFile(`/proc/${pid}/root/usr/bin/curl`, '')).rejects.toThrow('EROFS');
    expect((await execa('ps', ['-e', '-o', 'args'])).stdout).not.toContain('S3CRET');
    await rm(partial);
    expect((await filling).said).not.toContain('S3CRET');
    expect(server.asked).toEqual([{ path: '/slow?sig=S3CRET', authorization: 'Bearer S3CRET' }]);
  });

  test('no message contains the query of a URL', async () => {
    server.paths.set(
      '/signed?sig=S3CRET',
      to(() => 'http://127.0.0.2/x?sig=OTHER'),
    );
    for (const path of ['/none?sig=S3CRET', '/signed?sig=S3CRET']) {
      const { said } = await fill({ source: server.url(path) });
      expect(said).toMatch(/127\.0\.0\.[12]/);
      expect(said).not.toMatch(/S3CRET|OTHER/);
    }
    const { said } = await fill({ source: server.url('/none?sig=S3CRET') });
    expect(said).toBe(`${server.url('/none')}?...: the server answered 404 Not Found`);
  });

  test('qemu-img runs without privileges, network, or files except its source', async () => {
    const upper = join(folder.path, 'usr');
    await mkdir(join(upper, 'bin'), { recursive: true });
    const stub = join(upper, 'bin', 'qemu-img');
    const rights = 'setpriv --dump | grep -e ^uid -e no_new -e bounding';
    const look = `echo $(${rights}) etc $(ls /etc) new $(head -c 3 /new/source) net $(curl -sS ${server.url('/x')} 2>&1)`;
    await writeFile(stub, `#!/bin/sh\n${look} >&2\nexit 1\n`);
    await chmod(stub, 0o755);
    server.paths.set('/disk', await qcow2());
    await execa('mount', ['-t', 'overlay', '-o', `lowerdir=${upper}:/usr`, 'overlay', '/usr']);
    try {
      const { exit, said } = await fill({ source: server.url('/disk'), format: 'qcow2' });
      const seen =
        'uid: 65522 no_new_privs: 1 Capability bounding set: [none] etc ld.so.cache new QFI net curl: (7)';
      expect([exit, said]).toEqual([3, expect.stringContaining(seen)]);
    } finally {
      await execa('umount', ['--lazy', '/usr']);
    }
    expect(server.asked.map(({ path }) => path)).toEqual(['/disk']);
  });

  test('the secret is sent only to the server that it is for', async () => {
    const other = await startSourceServer();
    try {
      other.paths.set('/disk', CONTENT);
      server.paths.set('/disk', (_request, response) =>
        response.writeHead(302, { Location: other.url('/disk') }).end(),
      );
      const authorization = 'Basic "a\\b"';
      expect(await fill({ source: server.url('/disk') }, { authorization })).toEqual({
        exit: 0,
        said: '',
      });
      expect(server.asked).toEqual([{ path: '/disk', authorization }]);
      expect(other.asked).toEqual([{ path: '/disk', authorization: undefined }]);
    } finally {
      await other.stop();
    }
  });

  test('five redirects are followed', async () => {
    for (let n = 0; n < 5; n++)
      server.paths.set(
        `/${n}`,
        to(() => `/${n + 1}`),
      );
    server.paths.set('/5', CONTENT);
    expect(await fill({ source: server.url('/0') })).toEqual({ exit: 0, said: '' });
    await isFilled(CONTENT);
  });

  test.each<
    [string, number, string, () => Promise<Record<string, string>> | Record<string, string>]
  >([
    [
      'a wrong checksum',
      3,
      `is not ${'a'.repeat(64)}`,
      () => ({ source: server.url('/disk'), sha256: 'a'.repeat(64) }),
    ],
    ['404', 1, 'the server answered 404 Not Found', () => ({ source: server.url('/none') })],
    ['a truncated response', 1, 'was cut off', () => ({ source: server.url('/cut') })],
    [
      'a response truncated while it is unpacked',
      1,
      'was cut off',
      () => ({ source: server.url('/cut.zst'), compression: 'zstd' }),
    ],
    [
      'data that is no zstd',
      3,
      'zstd cannot unpack the source',
      () => ({ source: server.url('/disk'), compression: 'zstd' }),
    ],
    [
      'truncated gzip',
      3,
      'gzip cannot unpack the source',
      () => ({ source: server.url('/half.gz'), compression: 'gzip' }),
    ],
    [
      'a zstd that is too large',
      3,
      `larger than the ${SIZE} bytes`,
      () => ({ source: server.url('/bomb'), compression: 'zstd' }),
    ],
    [
      'an unreachable server',
      1,
      'could not be fetched',
      () => ({ source: 'http://127.0.0.1:1/x' }),
    ],
    [
      'another loopback address',
      3,
      'is at 127.0.0.2',
      () => ({ source: `http://127.0.0.2:${server.port}/disk` }),
    ],
    ['localhost of IPv6', 3, 'is at ::1', () => ({ source: `http://[::1]:${server.port}/disk` })],
    [
      'an IPv4-mapped loopback address',
      3,
      'is at',
      () => ({ source: `http://[::ffff:127.0.0.2]:${server.port}/disk` }),
    ],
    [
      'link-local addresses',
      3,
      'is at 169.254.169.254',
      () => ({ source: 'http://169.254.169.254/x' }),
    ],
    ['a link-local redirect', 3, 'is at 169.254.169.254', () => ({ source: server.url('/away') })],
    ['a loopback redirect', 3, 'is at 127.0.0.2', () => ({ source: server.url('/loop') })],
    [
      'a redirect to a file',
      3,
      'is neither an http nor an https URL',
      () => ({ source: server.url('/file') }),
    ],
    [
      'endless redirects',
      3,
      'redirects more than 5 times',
      () => ({ source: server.url('/round') }),
    ],
    [
      'another scheme',
      3,
      'is neither an http nor an https URL',
      () => ({ source: 'ftp://127.0.0.1/x' }),
    ],
    [
      'a user in a URL',
      3,
      'has a user before its host',
      () => ({ source: `http://me:secret@127.0.0.1:${server.port}/disk` }),
    ],
    ['an unlisted path', 3, 'is in no directory that', () => ({ source: '/etc/passwd' })],
    [
      'a path with .. out of a listed directory',
      3,
      'is in no directory that',
      () => ({ source: `${folder.path}/listed/../../../etc/passwd` }),
    ],
    [
      'a directory with a similar name',
      3,
      'is in no directory that',
      () => ({ source: `${folder.path}/listed2/x` }),
    ],
    [
      'a missing file',
      1,
      'there is no regular file',
      () => ({ source: `${folder.path}/listed/none` }),
    ],
    ['an HTML page', 3, 'begins like an HTML page', () => ({ source: server.url('/page') })],
    [
      'an HTML page instead of a backup',
      3,
      'begins like an HTML page',
      () => ({ source: server.url('/page'), compression: 'zstd', format: 'exact' }),
    ],
    [
      'a compressed HTML page',
      3,
      'begins like an HTML page',
      () => ({ source: server.url('/page.gz') }),
    ],
    [
      'a disk of another hypervisor',
      3,
      'begins like a disk of format vmdk',
      () => ({ source: server.url('/vmdk'), compression: 'none' }),
    ],
    ['a tar', 3, 'begins like a tar archive', () => ({ source: server.url('/tar.xz') })],
    [
      'another compression than declared',
      3,
      'begins like data compressed with xz, and by its name or spec.compression should be compressed with gzip',
      () => ({ source: server.url('/disk.xz'), compression: 'gzip' }),
    ],
    ['truncated xz', 3, 'xz cannot unpack the source', () => ({ source: server.url('/half.xz') })],
    [
      'an xz that is too large',
      3,
      `larger than the ${SIZE} bytes`,
      () => ({ source: server.url('/bomb.xz') }),
    ],
    ['an empty source', 3, 'the source is empty', () => ({ source: server.url('/empty') })],
    ['an empty xz', 3, 'the source is empty', () => ({ source: server.url('/empty.xz') })],
    [
      'an invalid qcow2',
      3,
      'the source is not a qcow2',
      () => ({ source: server.url('/disk'), format: 'qcow2' }),
    ],
  ])('%s is refused, and nothing is left', async (_what, exit, said, options) => {
    server.paths.set('/disk', CONTENT);
    server.paths.set('/half.gz', PACKED.gzip.subarray(0, 3 * MIB));
    server.paths.set('/half.xz', PACKED.xz.subarray(0, 3 * MIB));
    server.paths.set('/disk.xz', PACKED.xz);
    server.paths.set('/bomb.xz', REFUSED.bombXz);
    server.paths.set('/tar.xz', REFUSED.tarXz);
    server.paths.set('/page', PAGE);
    server.paths.set('/page.gz', gzipSync(PAGE));
    server.paths.set('/vmdk', Buffer.concat([Buffer.from('KDMV\x01\0\0\0'), CONTENT]));
    server.paths.set('/empty', Buffer.alloc(0));
    server.paths.set('/empty.xz', packBy('xz', Buffer.alloc(0)));
    server.paths.set('/bomb', REFUSED.bomb);
    for (const [path, bytes] of [
      ['/cut', CONTENT],
      ['/cut.zst', PACKED.zstd],
    ] as const) {
      server.paths.set(path, (_request, response) => {
        response.writeHead(200, { 'Content-Length': bytes.length });
        response.write(bytes.subarray(0, 3 * MIB), () => response.destroy());
      });
    }
    server.paths.set(
      '/away',
      to(() => 'http://169.254.169.254/latest'),
    );
    server.paths.set(
      '/loop',
      to(() => `//127.0.0.2:${server.port}/disk`),
    );
    server.paths.set(
      '/file',
      to(() => 'file:///etc/passwd'),
    );
    server.paths.set(
      '/round',
      to(() => '/round'),
    );
    expect(await fill(await options())).toEqual({ exit, said: expect.stringContaining(said) });
    expect(await left()).toEqual([]);
    expect(await loops()).toEqual([]);
  });

  test('a namespace with 8 of 16 slots waits, and other namespaces do not', async () => {
    const places = await holdPlaces(8, 'prod');
    try {
      server.paths.set('/disk', CONTENT);
      const waits = fill({ source: server.url('/disk') }, { namespace: 'prod' });
      const ended = { exit: 0, said: '' };
      await until('the job waits for a slot', async () => (await left()).length > 0 || undefined);
      const path = join(folder.path, 'other', `${UID}.partial`);
      await mkdir(join(folder.path, 'other'));
      expect(await fill({ source: server.url('/disk') }, { namespace: 'test', path })).toEqual(
        ended,
      );
      expect(await fill({ source: server.url('/disk') }, { path })).toEqual(ended);
      expect(server.asked).toHaveLength(2);
      places.giveOne();
      expect(await waits).toEqual({
        exit: 0,
        said: 'stowage-waiting namespace\nstowage-waiting over',
      });
      await isFilled(CONTENT);
    } finally {
      await places.giveAll();
    }
  });

  test('a download that is too slow for the size of the volume is aborted', async () => {
    server.paths.set('/drip', (_request, response) => {
      response.writeHead(200);
      const dripping = setInterval(() => response.write(Buffer.alloc(64 * 1024)), 100);
      response.on('close', () => clearInterval(dripping));
    });
    const options = { source: server.url('/drip'), format: 'raw' };
    const now = (text: string) => text.replaceAll('3600 + SIZE / 524288', '2 + SIZE / 16777216');
    expect(await fill(options, { changed: now })).toEqual({
      exit: 1,
      said: expect.stringMatching(
        /took longer than the \d seconds that a volume of this size may take/,
      ),
    });
  });

  test('a 17th job waits for a slot, and ends if its file is removed', async () => {
    const places = await holdPlaces();
    try {
      server.paths.set('/disk', CONTENT);
      const removed = fill({ source: server.url('/disk') });
      await until('the partial file exists', async () => (await left()).length > 0 || undefined);
      await rm(partial);
      expect(await removed).toEqual({ exit: 1, said: '' });
      expect(server.asked).toEqual([]);
      const filled = fill({ source: server.url('/disk') });
      places.giveOne();
      expect(await filled).toEqual({ exit: 0, said: '' });
      await isFilled(CONTENT);
    } finally {
      await places.giveAll();
    }
  });

  test('a symlink out of a listed directory is refused', async () => {
    await symlink('/etc/passwd', join(folder.path, 'listed', 'link'));
    expect(await fill({ source: `${folder.path}/listed/link` })).toEqual({
      exit: 3,
      said: expect.stringContaining('is in no directory that'),
    });
  });

  test('an untrusted TLS certificate is refused', async () => {
    const tls = await startSourceServer({ tls: true });
    try {
      tls.paths.set('/disk', CONTENT);
      const { exit, said } = await fill({ source: tls.url('/disk') });
      expect([exit, said]).toEqual([1, expect.stringMatching(/certificate/)]);
      expect(tls.asked).toEqual([]);
    } finally {
      await tls.stop();
    }
  });

  /** Returns an image with a changed field of its header, big-endian. */
  const patched = async (at: number, value: bigint, bytes: 4 | 8) => {
    const image = await qcow2();
    if (bytes === 8) image.writeBigUInt64BE(value, at);
    else image.writeUInt32BE(Number(value), at);
    return image;
  };
  test.each<[string, string, () => Promise<Buffer>]>([
    ['with a backing file', 'with a backing file', () => qcow2('-F', 'raw', '-b', '/etc/passwd')],
    [
      'with a data file',
      'with a data file',
      () => qcow2('-o', `data_file=${folder.path}/outside,data_file_raw=on`),
    ],
    ['of an unknown version', 'version 9', () => patched(4, 9n, 4)],
    ['that is encrypted', 'encrypted', () => patched(32, 1n, 4)],
    ['that is too large', 'and the volume has room for', () => patched(24, 1n << 40n, 8)],
    [
      'with the largest virtual size',
      'and the volume has room for',
      () => patched(24, (1n << 64n) - 512n, 8),
    ],
    ['that is damaged', 'qemu-img', () => patched(40, 1n << 50n, 8)],
  ])('a qcow2 %s is refused', async (_what, said, image) => {
    server.paths.set('/disk', await image());
    expect(await fill({ source: server.url('/disk'), format: 'qcow2' })).toEqual({
      exit: 3,
      said: expect.stringContaining(said),
    });
    expect(await left()).toEqual([]);
  });

  test.each(['block', 'ext4'] as const)('reports a full file system: %s', async (content) => {
    const small = await ownFileSystem('ext4', 24n << 20n);
    try {
      const noise = randomBytes(30 * MIB);
      server.paths.set('/disk', noise);
      const path = join(small.path, `${UID}.partial`);
      const { exit, said } = await fill({ source: server.url('/disk') }, { path, content });
      expect([exit, said]).toEqual([1, expect.stringMatching(/full/)]);
      expect(await readdir(small.path)).toEqual(['lost+found']);
    } finally {
      await small.remove();
    }
  });

  /** Returns the PIDs of processes that work on the target. */
  const working = async () =>
    (await execa('pgrep', ['-f', `${UID}.partial`], { reject: false })).stdout
      .split('\n')
      .filter((pid) => pid !== '');

  test.each([
    [
      'its child process is killed',
      async () => {
        const [first = ''] = await working();
        const { stdout } = await execa('pgrep', ['-P', first]);
        process.kill(Number(stdout), 'SIGKILL');
      },
    ],
    ['its file is removed', () => rm(partial)],
  ])('leaves no process or file behind when %s', async (_what, end) => {
    server.paths.set('/slow', (_request, response) => {
      response.writeHead(200, { 'Content-Length': CONTENT.length });
      response.write(CONTENT.subarray(0, MIB));
    });
    const filling = fill({ source: server.url('/slow') });
    await until('the download has begun', async () => server.asked.length > 0 || undefined);
    await end();
    const { exit } = await filling;
    expect(exit).not.toBe(0);
    expect(await working()).toEqual([]);
    expect(await left()).toEqual([]);
    server.paths.set('/slow', CONTENT);
    expect(await fill({ source: server.url('/slow') })).toEqual({ exit: 0, said: '' });
    await isFilled(CONTENT);
  });

  test.each(['curl', 'zstd', 'setpriv', 'qemu-img'])(
    'reports a node without the program %s',
    async (program) => {
      server.paths.set('/disk', PACKED.zstd);
      const bin = join(folder.path, 'bin');
      await mkdir(bin);
      // Links all other programs.
      const copy = 'cp -rsn /usr/bin/. /usr/sbin/. "$1"; rm "$1/$2"';
      await execa('sh', ['-c', copy, 'sh', bin, program]);
      const before = process.env.PATH;
      process.env.PATH = bin;
      try {
        const format = program === 'qemu-img' ? 'qcow2' : 'raw';
        expect(await fill({ source: server.url('/disk'), compression: 'zstd', format })).toEqual({
          exit: 3,
          said: expect.stringContaining(`this node has no program ${program}`),
        });
      } finally {
        process.env.PATH = before;
      }
    },
  );

  test.each([
    ['other users can write to it', () => chmod('/etc/stowage/sources.conf', 0o666)],
    [
      'a line has an unknown key',
      () => writeFile('/etc/stowage/sources.conf', 'allow-adress 127.0.0.1\n'),
    ],
    [
      'a network is invalid',
      () => writeFile('/etc/stowage/sources.conf', 'allow-address 127.0.0.1/99\n'),
    ],
  ])('refuses sources.conf of the node when %s', async (_why, change) => {
    server.paths.set('/disk', CONTENT);
    await change();
    expect(await fill({ source: server.url('/disk') })).toEqual({
      exit: 3,
      said: expect.stringContaining('/etc/stowage/sources.conf'),
    });
  });
});
