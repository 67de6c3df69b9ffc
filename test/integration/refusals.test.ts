import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { DesiredRaw } from '../../src/storage/types.ts';
import { carryOut, observe } from '../support/carry-out.ts';
import { readTable } from '../support/disks.ts';
import { CONTENTS, type Kinds, setUpKinds } from '../support/kinds.ts';
import { EVERY_CASE } from '../support/lane.ts';
import { removeTraces } from '../support/remove-traces.ts';
import { describeAsRoot } from '../support/root.ts';
import { SIGNATURES, sha256 } from '../support/signatures.ts';

describeAsRoot('a raw device with content', () => {
  let kinds: Kinds;
  beforeAll(async () => {
    kinds = await setUpKinds();
  });
  afterEach(() => kinds.clean());
  afterAll(() => kinds?.stop());

  /** Contents for checks that do not depend on the content. */
  const contents = EVERY_CASE ? CONTENTS : CONTENTS.slice(0, 1);

  const prepare = (desired: DesiredRaw) =>
    carryOut(kinds.executors.local, 'n1', 'provision', desired);

  async function contentOf(desired: DesiredRaw): Promise<string> {
    const seen = await observe(kinds.executors.local, 'n1', desired);
    if (seen.type !== 'raw' || seen.target.is !== 'device') throw new Error('no device');
    return seen.target.facts.content;
  }

  const signatures = EVERY_CASE
    ? SIGNATURES
    : SIGNATURES.filter(({ name }) => /^(ext4|a GPT|ext4 and)/.test(name));
  describe.each(signatures.map((each) => [each.name, each] as const))(
    '%s',
    (_, { expected, put }) => {
      test('is refused, and every byte stays', async () => {
        const { path } = await kinds.disk();
        await put(path);
        const before = await sha256(path);
        for (const content of EVERY_CASE || put === signatures[0]?.put ? CONTENTS : contents) {
          const desired = kinds.onDevice(path, content);
          const found = await contentOf(desired);
          expect(found).toMatch(expected);
          expect(await prepare(desired)).toBe(`${path} contains ${found}`);
          const other = { ...desired, overwrite: 'ext4:00000000-0000-0000-0000-000000000000' };
          expect(await prepare(other)).toContain('spec.overwrite allows only "ext4:00000000');
        }
        expect(await sha256(path)).toBe(before);
      });

      test('is overwritten if spec.overwrite names it', async () => {
        const { path } = await kinds.disk();
        await put(path);
        const desired = kinds.onDevice(path, 'xfs');
        const seen = await prepare({ ...desired, overwrite: await contentOf(desired) });
        expect(seen).toMatchObject({ target: { facts: { content: `xfs:${desired.uid}` } } });
      });
    },
  );

  type Use = (path: string) => Promise<(() => Promise<unknown>) | undefined>;
  const uses: [name: string, refusal: RegExp, use: Use][] = [
    [
      'mounted',
      /is in use: mounted at /,
      async (path) => {
        await execa('mkfs.ext4', ['-q', '-F', path]);
        // The kernel writes to file systems that are mounted writable.
        await execa('mount', ['-o', 'ro', path, join(kinds.folder, 'mnt')]);
        return () => execa('umount', [join(kinds.folder, 'mnt')]);
      },
    ],
    [
      'mounted from a partition',
      /p1 is in use: mounted at /,
      async (path) => {
        await execa('sgdisk', ['--clear', '--largest-new=1', path]);
        await readTable(path);
        await execa('mkfs.ext4', ['-q', '-F', `${path}p1`]);
        await execa('mount', ['-o', 'ro', `${path}p1`, join(kinds.folder, 'mnt')]);
        return () => execa('umount', [join(kinds.folder, 'mnt')]);
      },
    ],
    [
      'below a loop device',
      /is in use: held by \/dev\/loop\d+/,
      async (path) => {
        const { stdout } = await execa('losetup', ['--find', '--show', path]);
        return () => execa('losetup', ['--detach', stdout]);
      },
    ],
    [
      'used as swap',
      /is in use: it is swap/,
      async (path) => {
        await execa('mkswap', [path]);
        await execa('swapon', [path]);
        return () => execa('swapoff', [path]);
      },
    ],
    [
      'open in a process',
      /is in use: a process has it open/,
      async (path) => {
        const handle = await open(path, 'r');
        return () => handle.close();
      },
    ],
  ];
  test.each(uses)(
    'is refused while it is %s, despite spec.overwrite, and stays unchanged',
    async (_, refusal, use) => {
      const { path } = await kinds.disk();
      const end = await use(path);
      try {
        const before = await sha256(path);
        for (const content of contents) {
          const desired = kinds.onDevice(path, content);
          expect(await prepare({ ...desired, overwrite: await contentOf(desired) })).toMatch(
            refusal,
          );
          // The Volume is deleted: as long as it exists, the device belongs to it.
          await removeTraces(desired.uid, undefined);
        }
        expect(await sha256(path)).toBe(before);
      } finally {
        await end?.();
      }
    },
  );

  test('is refused for Block if it is an MBR partition, but accepted for ext4', async () => {
    const { partition, path } = await kinds.disk(640n << 20n, 'dos');
    const before = await sha256(path);
    expect(await prepare(kinds.onDevice(partition, 'Block'))).toMatch(
      /is partition 1 of a table of type dos/,
    );
    expect(await sha256(path)).toBe(before);
    expect(await prepare(kinds.onDevice(partition, 'ext4'))).toMatchObject({ type: 'raw' });
  });

  test('is an error, not an empty device, if its end cannot be read', async () => {
    const file = join(kinds.folder, 'odd.disk');
    // Half a 4K sector too many: the last sector cannot be read, and blkid and wipefs print
    // nothing.
    await execa('truncate', ['-s', String((400n << 20n) + 512n), file]);
    await execa('mkfs.ext4', ['-q', '-F', file]);
    const { stdout: path } = await execa('losetup', ['-b', '4096', '--find', '--show', file]);
    try {
      const before = await sha256(file);
      for (const content of contents) {
        await expect(prepare(kinds.onDevice(path, content))).rejects.toThrow(
          /the end of .* failed with status/,
        );
      }
      expect(await sha256(file)).toBe(before);
    } finally {
      await execa('losetup', ['--detach', path]);
      await rm(file);
    }
  });

  const diskUses: [string, RegExp, (path: string) => Promise<() => Promise<unknown>>][] = [
    [
      'open to write',
      /is in use: a process has it open for writing/,
      async (path) => {
        const handle = await open(path, 'r+');
        return () => handle.close();
      },
    ],
    [
      'under a stacked loop',
      /is in use: held by \/dev\/loop\d+/,
      async (path) => {
        const { stdout } = await execa('losetup', ['--find', '--show', path]);
        return () => execa('losetup', ['--detach', stdout]);
      },
    ],
  ];
  test.each(diskUses)(
    'is refused if it is a partition of a disk that is %s',
    async (_, refusal, use) => {
      const { path, partition } = await kinds.disk(640n << 20n, 'gpt');
      const end = await use(path);
      try {
        const before = await sha256(path);
        for (const content of contents) {
          const desired = kinds.onDevice(partition, content);
          expect(await prepare(desired)).toMatch(refusal);
          await removeTraces(desired.uid, undefined);
        }
        expect(await sha256(path)).toBe(before);
      } finally {
        await end();
      }
    },
  );

  test('is refused by any path, despite spec.overwrite, if another Volume has it', async () => {
    const { path } = await kinds.disk();
    const first = kinds.onDevice(path, 'ext4');
    await prepare(first);
    const linked = join(kinds.folder, 'by-another-name');
    await execa('ln', ['-sfn', path, linked]);
    const before = await sha256(path);
    for (const content of contents) {
      const second = kinds.onDevice(linked, content, { overwrite: `ext4:${first.uid}` });
      expect(await prepare(second)).toBe(
        `${path} belongs to another Volume, with the UID ${first.uid}`,
      );
    }
    expect(await sha256(path)).toBe(before);
  });

  test('is refused as a whole if another Volume has a partition of it', async () => {
    const { path, partition } = await kinds.disk(640n << 20n, 'gpt');
    const first = kinds.onDevice(partition, 'Block');
    await prepare(first);
    const second = kinds.onDevice(path, 'xfs');
    const before = await sha256(path);
    expect(await prepare({ ...second, overwrite: await contentOf(second) })).toContain(first.uid);
    expect(await sha256(path)).toBe(before);
  });

  test.each([
    [
      'a file',
      async (path: string) => writeFile(path, 'not a disk'),
      / is a regular file, not a disk, partition or logical volume$/,
    ],
    [
      'a folder',
      async (path: string) => mkdir(path),
      / is a directory, not a disk, partition or logical volume$/,
    ],
    ['missing', async () => {}, /^there is no device /],
  ] as const)('is refused if it is %s', async (name, make, refusal) => {
    const path = join(kinds.folder, `not-${name.replaceAll(' ', '-')}`);
    await make(path);
    expect(await prepare(kinds.onDevice(path, 'ext4'))).toMatch(refusal);
  });

  test('is refused if it is too small for XFS', async () => {
    const { path } = await kinds.disk(64n << 20n);
    expect(await prepare(kinds.onDevice(path, 'xfs'))).toMatch(
      /an xfs file system needs .* only 67108864 are available$/,
    );
  });

  test('is refused if it is read-only', async () => {
    const { path } = await kinds.disk();
    await execa('blockdev', ['--setro', path]);
    try {
      expect(await prepare(kinds.onDevice(path, 'ext4'))).toBe(`${path} is read-only`);
    } finally {
      // The flag outlasts the file.
      await execa('blockdev', ['--setrw', path]);
    }
  });

  test('is not provisioned again if its content was replaced after provisioning', async () => {
    const { path } = await kinds.disk();
    const desired = kinds.onDevice(path, 'ext4');
    await prepare(desired);
    await execa('wipefs', ['--all', path]);
    await execa('mkfs.ext4', ['-q', '-F', path]);
    const before = await sha256(path);
    for (const operation of ['provision', 'attach'] as const) {
      const made = await carryOut(kinds.executors.local, 'n1', operation, {
        ...desired,
        recorded: true,
      });
      expect(made).toMatch(
        /should contain what was created for this Volume, but ext4:.* was found/,
      );
    }
    expect(await sha256(path)).toBe(before);
  });
});
