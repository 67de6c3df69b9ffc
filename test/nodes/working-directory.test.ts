import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createLocalShell } from '../../src/nodes/transport/local-shell.ts';
import { workingDirectory } from '../../src/nodes/working-directory.ts';

const before = process.cwd();
afterEach(() => process.chdir(before));

test('the working directory is that of this process', () => {
  expect(workingDirectory()).toBe(before);
});

test('the working directory is / if it was deleted, and programs still run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-folder-'));
  process.chdir(folder);
  rmdirSync(folder);
  expect(workingDirectory()).toBe('/');
  expect(await createLocalShell(['n1']).run('n1', 'pwd', 10_000)).toBe('/\n');
});
