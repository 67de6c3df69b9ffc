import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execa } from 'execa';
import { VERSION } from '../../src/api/version.ts';

let folder = '';

/**
 * Returns an installed package: it has no development dependencies, and so no Node.js of its own.
 */
const installed = () => join(folder, 'lib/node_modules/stowage');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stowage launcher-'));
  for (const part of ['bin', 'dist']) await cp(part, join(installed(), part), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a program with a PATH whose `node` is the given script. Absent: no `node`. */
async function run(path: string, node?: string) {
  const bin = await mkdtemp(join(folder, 'bin-'));
  for (const tool of ['sh', 'dirname', 'readlink'])
    await symlink(`/usr/bin/${tool}`, join(bin, tool));
  if (node !== undefined) {
    await writeFile(join(bin, 'node'), node);
    await chmod(join(bin, 'node'), 0o755);
  }
  return execa(path, ['--version'], {
    env: { PATH: bin, HOME: folder },
    extendEnv: false,
    reject: false,
    cwd: '/',
  });
}

const REAL = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
const OLD = '#!/bin/sh\necho v20.20.2\n';

test('a checkout uses its own Node.js regardless of PATH', async () => {
  expect(await run(resolve('bin/stowage'), OLD)).toMatchObject({ stdout: VERSION, exitCode: 0 });
});

test('an installed package uses the Node.js on PATH', async () => {
  expect(await run(join(installed(), 'bin/stowage'), REAL)).toMatchObject({
    stdout: VERSION,
    exitCode: 0,
  });
});

test('the launcher follows links, also relative ones and links to links', async () => {
  await mkdir(join(folder, 'bin'));
  await symlink('../lib/node_modules/stowage/bin/stowage', join(folder, 'bin/stowage'));
  await symlink(join(folder, 'bin/stowage'), join(folder, 'kubectl-stowage'));
  expect(await run(join(folder, 'kubectl-stowage'), REAL)).toMatchObject({
    stdout: VERSION,
    exitCode: 0,
  });
});

test('an outdated Node.js is an error that names its version', async () => {
  const { exitCode, stderr } = await run(join(installed(), 'bin/stowage'), OLD);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^stowage: Node\.js 24 or later is needed; .*\/node is v20\.20\.2$/);
});

test('a missing Node.js is an error', async () => {
  expect(await run(join(installed(), 'bin/stowage'))).toMatchObject({
    exitCode: 1,
    stderr: 'stowage: Node.js 24 or later is needed, and there is none on PATH',
  });
});

test('a checkout that is not built reports the command that builds it', async () => {
  const unbuilt = join(folder, 'unbuilt');
  await cp('bin', join(unbuilt, 'bin'), { recursive: true });
  const { exitCode, stderr } = await run(join(unbuilt, 'bin/stowage'), REAL);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('dist/main.mjs is missing: run `npm run build`');
});
