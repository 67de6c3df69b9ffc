import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writePrivateFile } from '../../../src/cli/lib/output/private-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage-file-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('replaces a file with one that only its owner can read', async () => {
  const path = join(folder, 'kubeconfig');
  await writeFile(path, 'old', { mode: 0o644 });
  await writePrivateFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['kubeconfig']);
});

test('leaves nothing behind when it fails', async () => {
  // A directory at the path makes the last step fail.
  await expect(writePrivateFile(folder, 'new')).rejects.toMatchObject({
    name: 'StowageError',
    message: expect.stringContaining(`${folder} cannot be written`),
  });
  expect(
    (await readdir(tmpdir())).filter((name) => join(tmpdir(), name).startsWith(`${folder}.`)),
  ).toEqual([]);
});
