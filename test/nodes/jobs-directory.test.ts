import { chown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { JOBS_DIRECTORY, ownJobs } from '../../src/nodes/jobs-directory.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory('jobs-folder');
});
afterAll(() => folder.remove());

/** Returns the output of the scripts' check of a jobs directory at a path. */
async function check(path: string): Promise<string> {
  const script = ownJobs('end').replaceAll(JOBS_DIRECTORY, path);
  return (await execa('sh', ['-c', `${script}echo own`])).stdout;
}

const at = (name: string) => join(folder.path, name);

/** Returns a directory of another user. Only root can create one. A user takes one of root. */
async function directoryOfOthers(): Promise<string> {
  if (!isRoot) return '/usr';
  await mkdir(at('others'));
  await chown(at('others'), NOBODY, NOBODY);
  return at('others');
}

test.each<[string, string, () => Promise<string>]>([
  ['nothing', 'own', async () => at('nothing')],
  ['a directory of the user', 'own', async () => folder.path],
  ['a directory of another user', 'foreign', directoryOfOthers],
  ['a link', 'foreign', () => symlink(folder.path, at('link')).then(() => at('link'))],
  ['a file', 'foreign', () => writeFile(at('file'), '').then(() => at('file'))],
])('%s as the jobs directory is %s', async (_, expected, place) => {
  const [word] = (await check(await place())).split(/\s/);
  expect(word).toBe(expected);
});
