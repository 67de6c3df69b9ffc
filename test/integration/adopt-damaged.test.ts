import { randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { scriptArgv } from '../../src/storage/scripts/scripts.ts';
import type { DesiredSparse } from '../../src/storage/types.ts';
import { carry, exists } from '../support/kind-cases.ts';
import { recordedAs, setUpKinds } from '../support/kinds.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * Adoption of file systems that are damaged or were written to since. Refused ones must not change.
 */

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let mountPoint: string;
const file = () => join(folder.path, 'x.partial');
const base = (type: string) => join(folder.path, `base.${type}`);
beforeAll(async () => {
  folder = await temporaryDirectory('adopt-damaged');
  mountPoint = join(folder.path, 'mnt');
  await mkdir(mountPoint);
  for (const [type, size, options] of [
    ['ext4', '64M', ['-q', '-F', '-O', '^metadata_csum_seed']],
    ['xfs', '320M', ['-q', '-f']],
  ] as const) {
    await execa('truncate', ['-s', size, base(type)]);
    await execa(`mkfs.${type}`, [...options, base(type)]);
    // In the second round, metadata refer to positions that a log in its first cycle has not
    // reached.
    for (const round of ['1', '2']) {
      await mounted(base(type), async () => {
        for (let n = 0; n < 300; n++) await writeFile(join(mountPoint, `${round}-${n}`), '');
        await writeFile(join(mountPoint, 'data'), 'kept');
        await execa('sync', ['-f', mountPoint]);
      });
    }
  }
});
afterAll(() => folder?.remove());

async function mounted(image: string, work: () => Promise<void>): Promise<void> {
  await execa('mount', ['-o', 'loop', image, mountPoint]);
  try {
    await work();
  } finally {
    await execa('umount', [mountPoint]);
  }
}

const sum = async (path = file()) => (await execa('sha256sum', [path])).stdout.split(' ')[0];
const uuid = async () => (await execa('blkid', ['-p', '-o', 'value', '-s', 'UUID', file()])).stdout;
const record = (owner: string) => `/var/lib/stowage/adoptions/${owner}`;

function adopt(type: string, uid: string, owner = uid) {
  const [program = '', ...words] = scriptArgv('stowage-adopt', file(), uid, type, owner);
  return execa(program, words, { reject: false });
}

async function expectWhole(type: string, uid: string): Promise<void> {
  expect(await uuid()).toBe(uid);
  const [program = '', ...words] = type === 'ext4' ? ['e2fsck', '-f', '-n'] : ['xfs_repair', '-n'];
  await execa(program, [...words, file()]);
  await mounted(file(), async () => {
    expect(await readFile(join(mountPoint, 'data'), 'utf8')).toBe('kept');
    await writeFile(join(mountPoint, 'more'), 'more');
  });
}

/**
 * Runs the script on a file that it must not change. Expects an error message that matches `why`.
 */
async function expectLeft(type: string, uid: string, why: RegExp): Promise<void> {
  const before = await sum();
  expect(await adopt(type, uid)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(why) });
  expect(await sum()).toBe(before);
}

const db = async (...commands: string[]) =>
  (await execa('xfs_db', ['-x', ...commands.flatMap((each) => ['-c', each]), file()])).stdout;

/** Zeroes the blocks of the log from block `from` on. */
async function zeroLog(from: number): Promise<void> {
  const numbers = await db('sb 0', 'print logstart logblocks blocksize');
  const [start, blocks = 0, size = 0] = [...numbers.matchAll(/= (\d+)/g)].map(([, each]) =>
    Number(each),
  );
  const [, byte] = /\((\d+)\)/.exec(await db('sb 0', `convert fsblock ${start} byte`)) ?? [];
  const seek = Number(byte) / size + from;
  const place = [
    `bs=${size}`,
    `seek=${seek}`,
    `count=${blocks - from}`,
    'conv=notrunc',
    'status=none',
  ];
  await execa('dd', ['if=/dev/zero', `of=${file()}`, ...place]);
}

/**
 * Gives the log another UUID, but not the superblocks: xfs_db does not change them while
 * `inprogress` is set.
 */
const logOf = (uid: string) =>
  db('sb 0', 'write inprogress 1', `uuid ${uid}`, 'sb 0', 'write inprogress 0');

describe('adoption of an XFS file system', () => {
  test('refuses a dirty log in a retry, and succeeds once a mount has replayed it', async () => {
    const uid = randomUUID();
    await cp(base('xfs'), join(folder.path, 'live'));
    await mounted(join(folder.path, 'live'), async () => {
      for (let n = 0; n < 50; n++) await writeFile(join(mountPoint, `late-${n}`), '');
      await execa('sync', ['-f', mountPoint]);
      await cp(join(folder.path, 'live'), file());
    });
    await mkdir(dirname(record(uid)), { recursive: true });
    await writeFile(record(uid), '');
    await expectLeft('xfs', uid, /is dirty/);
    await mounted(file(), async () => expect(await exists(join(mountPoint, 'late-49'))).toBe(true));
    expect(await adopt('xfs', uid)).toMatchObject({ exitCode: 0 });
    expect(await exists(record(uid))).toBe(false);
    await expectWhole('xfs', uid);
    await mounted(file(), async () => expect(await exists(join(mountPoint, 'late-49'))).toBe(true));
  });

  test.each([
    ['zero', () => zeroLog(0)],
    ['with another UUID', logOf],
    [
      'zero from its second block on',
      async (uid: string) => {
        await logOf(uid);
        await zeroLog(1);
      },
    ],
  ] as const)(
    'completes or reverts an interrupted UUID change that left the log %s',
    async (_, cut) => {
      for (const back of [false, true]) {
        const uid = randomUUID();
        await cp(base('xfs'), file());
        const earlier = await uuid();
        await cut(uid);
        await mkdir(dirname(record(uid)), { recursive: true });
        await writeFile(record(uid), '');
        const wanted = back ? earlier : uid;
        expect(await adopt('xfs', wanted, uid)).toMatchObject({ exitCode: 0 });
        expect(await exists(record(uid))).toBe(false);
        await expectWhole('xfs', wanted);
      }
    },
  );

  test('changes nothing if the log is unreadable and no adoption had begun', async () => {
    const uid = randomUUID();
    await cp(base('xfs'), file());
    await logOf(uid);
    await zeroLog(1);
    await expectLeft('xfs', uid, /log .* cannot be read/);
    expect(await exists(record(uid))).toBe(false);
  });
});

test.each(['ext4', 'xfs'])('adoption leaves a truncated %s file system unchanged', async (type) => {
  const uid = randomUUID();
  await cp(base(type), file());
  await truncate(file(), type === 'xfs' ? 310 << 20 : 60 << 20);
  await expectLeft(type, uid, /the rest is missing/);
  expect(await exists(record(uid))).toBe(false);
});

describe('adoption of an ext4 file system', () => {
  const damage = (command: string, path = file()) => execa('debugfs', ['-w', '-R', command, path]);

  test('leaves a damaged file system unchanged, also when it is reverted', async () => {
    await cp(base('ext4'), file());
    await damage('clri <2>');
    await expectLeft('ext4', randomUUID(), /is damaged, and was not changed/);
    const before = await sum();
    expect(await adopt('ext4', await uuid(), randomUUID())).toMatchObject({ exitCode: 0 });
    expect(await sum()).toBe(before);
  });

  test('completes a repair that an earlier e2fsck -p began', async () => {
    const uid = randomUUID();
    await cp(base('ext4'), file());
    await damage('sif /data links_count 2');
    await expectLeft('ext4', uid, /is damaged/);
    await mkdir(dirname(record(uid)), { recursive: true });
    await writeFile(`${record(uid)}.judged`, '');
    expect(await adopt('ext4', uid)).toMatchObject({ exitCode: 0 });
    expect(await exists(`${record(uid)}.judged`)).toBe(false);
    await expectWhole('ext4', uid);
  });

  test('restores the file name of a damaged file system when the Volume is deleted', async () => {
    const kinds = await setUpKinds();
    const old = (await kinds.desired('sparse file', 'ext4', {
      onDelete: 'Retain',
    })) as DesiredSparse;
    const { identity } = await carry(kinds.executors.local, 'provision', old);
    await carry(kinds.executors.local, 'delete', recordedAs(old, identity));
    await damage('clri <2>', old.file);
    const before = await sum(old.file);
    const uid = randomUUID();
    const renamed = join(dirname(old.file), uid);
    const desired: DesiredSparse = {
      ...old,
      uid,
      name: `vol-${uid}`,
      adopt: old.uid,
      file: renamed,
    };
    try {
      await expect(carry(kinds.executors.local, 'provision', desired)).rejects.toThrow(
        /is damaged/,
      );
      expect(await exists(`${renamed}.partial`)).toBe(true);
      await carry(kinds.executors.local, 'delete', desired);
      expect(await sum(old.file)).toBe(before);
      expect(await exists(`${renamed}.partial`)).toBe(false);
    } finally {
      await removeTraces(uid, renamed);
      await rm(old.file, { force: true });
      await kinds.clean();
      await kinds.stop();
    }
  });
});
