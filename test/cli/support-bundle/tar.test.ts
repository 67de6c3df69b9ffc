import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { createArchive } from '../../../src/cli/support-bundle/archive.ts';
import { tarMember } from '../../../src/cli/support-bundle/tar.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory('tar');
});
afterAll(() => folder.remove());

const MODIFIED = Date.parse('2020-01-02T03:04:05Z');

const FILES: [path: string, text: string][] = [
  ['README.txt', 'read me\n'],
  ['empty', ''],
  ['a block', 'x'.repeat(512)],
  ['more than a block', 'x'.repeat(513)],
  ['text of several bytes', '…€\u{1f600}'],
  [`${'p'.repeat(70)}/${'q'.repeat(79)}/${'n'.repeat(100)}`, 'longest path'],
  ['logs/large', 'a line of a log\n'.repeat(100_000)],
];

test('tar lists and unpacks the files', async () => {
  const chunks: Uint8Array[] = [];
  const archive = createArchive((bytes) => chunks.push(bytes), 'dir', MODIFIED);
  // Members that are added at the same time do not mix.
  await Promise.all(FILES.map(([path, text]) => archive.add(path, text)));
  await archive.close();
  const file = join(folder.path, 'a.tar.gz');
  await writeFile(file, Buffer.concat(chunks));
  const listed = await execa('tar', ['-tzf', file]);
  expect(listed.stderr).toBe('');
  expect(listed.stdout.split('\n')).toEqual(FILES.map(([path]) => `dir/${path}`));
  const unpacked = await execa('tar', ['-xzf', file, '-C', folder.path]);
  expect(unpacked.stderr).toBe('');
  for (const [path, text] of FILES)
    expect(await readFile(join(folder.path, 'dir', path), 'utf8')).toBe(text);
  const { mode, mtimeMs } = await stat(join(folder.path, 'dir/README.txt'));
  expect((mode & 0o777).toString(8)).toBe('600');
  expect(mtimeMs).toBe(MODIFIED);
});

test.each([
  ['a name of 101 bytes', 'n'.repeat(101)],
  ['a directory of 156 bytes', `${'p'.repeat(156)}/n`],
  ['an absolute path', '/etc/passwd'],
  ['a path that leaves the directory', 'a/../../b'],
  ['no name', 'a/'],
])('%s is refused', (_what, path) => {
  expect(() => tarMember(path, Buffer.alloc(0), MODIFIED)).toThrow(RangeError);
});

test('a failed write fails the archive', async () => {
  const archive = createArchive(
    () => {
      throw new Error('no space left');
    },
    'dir',
    MODIFIED,
  );
  const added = archive.add('a', 'x'.repeat(1 << 20)).catch((error) => error.message);
  await expect(archive.close()).rejects.toThrow('no space left');
  await added;
  await expect(archive.add('b', 'x')).rejects.toThrow();
});
