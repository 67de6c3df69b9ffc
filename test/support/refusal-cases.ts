import { randomUUID } from 'node:crypto';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Executor, Step } from '../../src/nodes/job.ts';
import type { Kinds } from './kinds.ts';
import { sha256 } from './signatures.ts';

const UID = '0b8e7a2c-2d52-4c4b-9a34-0a2b4a2e9d11';

/** Node n1 whose list contains the directory `sparse` of `kinds`, and one disk. */
export interface BoundedNode {
  kinds: Kinds;
  executor: Executor;
  listed: string;
}

/** Declares tests for requests that the node refuses from any client. Tests call `nodeOf`. */
export function refusalCases(nodeOf: () => BoundedNode): void {
  const folder = () => nodeOf().kinds.folder;
  const file = () => `${folder()}/sparse/${UID}`;
  const marker = () => join(folder(), 'marker');
  const exists = async (path: string) =>
    (await execa('test', ['-e', path], { reject: false })).exitCode === 0;

  describe('the node refuses', () => {
    test.each<[string, () => string[]]>([
      ['a shell', () => ['sh', '-c', `touch ${marker()}`]],
      ['a shell by its path', () => ['/bin/sh', '-c', `touch ${marker()}`]],
      ['a program that runs another program', () => ['env', 'touch', marker()]],
      ['a program that is not listed', () => ['cp', '/etc/shadow', file()]],
      ['reading a file that is not listed', () => ['cat', '/etc/shadow']],
      [
        'reading a file through ..',
        () => ['cat', `/var/lib/stowage/volumes/../../../../etc/${UID}.intent`],
      ],
      ['attaching a file that is not listed', () => ['losetup', '/dev/loop7', '/etc/shadow']],
      [
        'attaching a file through ..',
        () => ['losetup', '/dev/loop7', `${folder()}/sparse/../${UID}`],
      ],
      ['arguments that are not listed', () => ['losetup', '--offset', '1', '/dev/loop7', file()]],
      ['two arguments in one', () => ['losetup', `/dev/loop7 ${file()} /etc/shadow`]],
      ['a line break in a path', () => ['rm', '-f', '--', `${file()}\n/etc/shadow`]],
      [
        'making a file system on a file that is not listed',
        () => ['mkfs.xfs', '-q', '-f', '-m', `uuid=${UID}`, '/etc/shadow'],
      ],
    ])('%s as a probe, a step, and a precondition', async (_what, argvOf) => {
      const argv = argvOf();
      const harmless = ['test', '-S', '/run/udev/control'];
      const refused = { name: 'NodeError', code: 'refused' };
      await expect(nodeOf().executor.observe('n1', [{ name: 'x', argv }])).rejects.toMatchObject(
        refused,
      );
      const steps: Step[][] = [
        [{ name: 'x', argv, preconditions: [] }],
        [{ name: 'x', argv: harmless, preconditions: [{ argv, expect: {}, refusal: 'no' }] }],
      ];
      for (const each of steps) {
        const key = { subject: `refused-${randomUUID()}`, id: 'prepare-1' };
        await expect(
          nodeOf().executor.submit('n1', { key, steps: each }, 20_000),
        ).rejects.toMatchObject(refused);
        expect(await nodeOf().executor.poll('n1', [key], 0)).toEqual([{ state: 'not-found' }]);
      }
      expect(await exists(marker())).toBe(false);
    });

    const submit = (argv: string[], lock?: string) =>
      nodeOf().executor.submit(
        'n1',
        {
          key: { subject: `refused-${randomUUID()}`, id: 'prepare-1' },
          steps: [{ name: 'x', argv, preconditions: [], ...(lock === undefined ? {} : { lock }) }],
        },
        10_000,
      );
    const mkfs = (path: string) => ['mkfs.ext4', '-q', '-F', '-U', UID, path];

    test('a disk that is not listed, and its lock', async () => {
      const other = (await nodeOf().kinds.disk()).path;
      const before = await sha256(other);
      await expect(submit(mkfs(other))).rejects.toThrow('the command is not on its list');
      await expect(submit(['test', '-S', '/run/udev/control'], other)).rejects.toThrow(
        'in no listed directory',
      );
      expect(await sha256(other)).toBe(before);
    });

    test('a listed disk only while it is mounted', async () => {
      expect(await submit(mkfs(nodeOf().listed))).toEqual({ state: 'succeeded' });
      const mountPoint = join(folder(), 'mounted');
      await mkdir(mountPoint);
      await execa('mount', [nodeOf().listed, mountPoint]);
      try {
        await writeFile(join(mountPoint, 'data'), 'kept');
        await expect(submit(mkfs(nodeOf().listed))).rejects.toThrow('is in use');
        await expect(submit(['wipefs', '--all', '--force', nodeOf().listed])).rejects.toThrow(
          'is in use',
        );
        expect(await readFile(join(mountPoint, 'data'), 'utf8')).toBe('kept');
      } finally {
        await execa('umount', [mountPoint]);
      }
    });

    test('a symbolic link in its directory', async () => {
      const secret = join(folder(), 'secret');
      await writeFile(secret, 'kept');
      await symlink(secret, `${file()}.partial`);
      await expect(
        submit(['truncate', '-s', '1048576', '--', `${file()}.partial`]),
      ).rejects.toThrow('symbolic link');
      await expect(submit(mkfs(`${file()}.partial`))).rejects.toThrow('symbolic link');
      expect(await readFile(secret, 'utf8')).toBe('kept');
    });

    test('a loop device of a file that is not listed', async () => {
      const other = await nodeOf().kinds.disk();
      await expect(submit(['losetup', '-d', other.path])).rejects.toThrow('in no listed directory');
      expect((await execa('losetup', [other.path])).stdout).toContain(other.file);
    });
  });
}
