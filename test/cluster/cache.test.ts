import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { cacheDirectory, cached, keyOf } from './cache.ts';

let root: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeEach(async () => {
  root = await temporaryDirectory('cache');
});
afterEach(() => root.remove());

test('cacheFolder() prefers STOWAGE_CLUSTER_CACHE, then XDG_CACHE_HOME, then ~/.cache', () => {
  expect(cacheDirectory({ STOWAGE_CLUSTER_CACHE: '/c', XDG_CACHE_HOME: '/x' })).toBe('/c');
  expect(cacheDirectory({ XDG_CACHE_HOME: '/x' })).toBe('/x/stowage-cluster');
  expect(cacheDirectory({ XDG_CACHE_HOME: '' })).toMatch(/\/\.cache\/stowage-cluster$/);
});

test('keyOf() distinguishes different inputs and their boundaries', () => {
  expect(keyOf('a', 'b')).toBe(keyOf('a', Buffer.from('b')));
  expect(new Set([keyOf('ab'), keyOf('a', 'b'), keyOf('b', 'a'), keyOf('ab', '')]).size).toBe(4);
});

test('cached() builds once for concurrent requests of the same key', async () => {
  let builds = 0;
  const build = async (folder: string) => {
    builds++;
    await writeFile(join(folder, 'f'), 'x');
  };
  const ask = () => cached('part', 'k', build, root.path);
  const folders = await Promise.all([ask(), ask(), ask()]);
  expect(new Set([...folders, await ask()])).toEqual(new Set([join(root.path, 'part-k')]));
  expect(await readFile(join(root.path, 'part-k', 'f'), 'utf8')).toBe('x');
  expect(builds).toBe(1);
  await cached('part', 'other', build, root.path);
  expect(builds).toBe(2);
});

test('cached() discards a failed or interrupted build', async () => {
  const failing = cached('part', 'k', () => Promise.reject(new Error('no compiler')), root.path);
  await expect(failing).rejects.toThrow('no compiler');
  expect(await readdir(root.path)).toEqual(['part-k.lock']);

  const partial = join(root.path, 'part-k.partial');
  await cached('other', 'k', () => writeFile(partial, 'cut off'), root.path);
  const folder = await cached('part', 'k', (path) => writeFile(join(path, 'f'), ''), root.path);
  expect(await readdir(folder)).toEqual(['f']);
  expect(existsSync(partial)).toBe(false);
});
