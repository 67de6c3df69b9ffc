import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  folder = await temporaryDirectory('launcher');
  await cp('bin', join(folder.path, 'bin'), { recursive: true });
  await mkdir(join(folder.path, 'dist'));
  await writeFile(join(folder.path, 'dist/main.mjs'), '');
  // Stands for the Node.js of a checkout, and prints its arguments.
  const node = join(folder.path, 'node_modules/.bin/node');
  await mkdir(join(folder.path, 'node_modules/.bin'), { recursive: true });
  await writeFile(node, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  await chmod(node, 0o755);
});
afterAll(() => folder.remove());

const main = () => join(folder.path, 'dist/main.mjs');
const SMALL = '--max-semi-space-size=8';
const QUICK = '--min-semi-space-size=16';

test.each<[string[], string[]]>([
  [['watch'], [SMALL]],
  [['--kubeconfig', 'a b', 'watch', '--transport=ssh'], [SMALL]],
  [['get', 'volumes', '--watch'], [QUICK]],
  [['create', 'volume', 'a b', "'", '*'], [QUICK]],
  [[], [QUICK]],
])('bin/stowage runs %j with the V8 flags %j and unchanged arguments', async (args, flags) => {
  const { stdout } = await execa(join(folder.path, 'bin/stowage'), args);
  expect(stdout.split('\n')).toEqual([...flags, main(), ...args]);
});
