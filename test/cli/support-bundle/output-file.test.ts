import { lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createOutputFile } from '../../../src/cli/support-bundle/output-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  folder = await temporaryDirectory('output-file');
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);
const bytes = Buffer.from('archive');

async function withoutLinks(): Promise<void> {
  throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
}

test.each([
  ['new', false, undefined],
  ['new, on a file system without hard links', false, withoutLinks],
  ['replaced', true, undefined],
] as const)('a file that is %s appears once it is complete', async (_how, force, addLink) => {
  if (force) await writeFile(at('a'), 'before', { mode: 0o644 });
  const before = await readdir(folder.path);
  const file = await createOutputFile(at('a'), force, addLink);
  await file.write(bytes);
  await file.write(bytes);
  expect((await readdir(folder.path)).filter((name) => !name.endsWith('.partial'))).toEqual(before);
  await file.commit();
  await file.discard();
  expect(await readdir(folder.path)).toEqual(['a']);
  expect(await readFile(at('a'), 'utf8')).toBe('archivearchive');
  expect(((await stat(at('a'))).mode & 0o777).toString(8)).toBe('600');
});

test('a discarded file leaves nothing behind', async () => {
  const file = await createOutputFile(at('a'), false);
  await file.write(bytes);
  await file.discard();
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  ['a file', (path: string) => writeFile(path, 'theirs')],
  ['a directory', (path: string) => mkdir(path)],
  ['a symbolic link to nothing', (path: string) => symlink(at('nothing'), path)],
])('%s at the path is not replaced', async (_what, create) => {
  await create(at('a'));
  const before = await lstat(at('a'));
  await expect(createOutputFile(at('a'), false)).rejects.toMatchObject({
    code: 'conflict',
    message: `write ${at('a')}: the file exists`,
  });
  expect(await readdir(folder.path)).toEqual(['a']);
  expect((await lstat(at('a'))).ino).toBe(before.ino);
});

test.each([
  ['with hard links', undefined],
  ['without hard links', withoutLinks],
])('a file that appears meanwhile is not replaced, %s', async (_how, addLink) => {
  const file = await createOutputFile(at('a'), false, addLink);
  await file.write(bytes);
  await writeFile(at('a'), 'theirs');
  await expect(file.commit()).rejects.toMatchObject({ code: 'conflict' });
  await file.discard();
  expect(await readFile(at('a'), 'utf8')).toBe('theirs');
  expect(await readdir(folder.path)).toEqual(['a']);
});

test('a symbolic link is replaced, not followed', async () => {
  await writeFile(at('theirs'), 'theirs');
  await symlink(at('theirs'), at('a'));
  const file = await createOutputFile(at('a'), true);
  await file.write(bytes);
  await file.commit();
  expect(await readFile(at('theirs'), 'utf8')).toBe('theirs');
  expect((await lstat(at('a'))).isFile()).toBe(true);
});

test.each([
  ['a missing directory', 'missing/a', false],
  ['a directory at the path', 'directory', true],
])('%s is an error that names the path', async (_what, name, force) => {
  await mkdir(at('directory'));
  const write = async () => {
    const file = await createOutputFile(at(name), force);
    try {
      await file.commit();
    } finally {
      await file.discard();
    }
  };
  await expect(write()).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining(`write ${at(name)}: E`),
  });
  expect(await readdir(folder.path)).toEqual(['directory']);
});
