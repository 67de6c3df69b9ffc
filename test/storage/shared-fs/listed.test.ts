import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { execa } from 'execa';
import type { Precondition, ProbeResult } from '../../../src/nodes/job.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import { readShared, sharedProbes } from '../../../src/storage/shared-fs/observe.ts';
import { noOthers, noReaders } from '../../../src/storage/shared-fs/steps.ts';
import { textOf } from '../../../src/storage/shared-fs/text.ts';

/**
 * Output of the real find(1) for a shared directory whose path on this node is a link to its mount
 * point.
 */

const UID = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';
const BOOT = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const held = textOf('held', { node: 'n2', bootId: BOOT, token: 't1' });

let top: string;
/** Path of the file through the link. */
let file: string;

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'stowage-listed-'));
  await mkdir(join(top, 'mount'));
  await symlink(join(top, 'mount'), join(top, 'link'));
  file = join(top, 'link', UID);
});
afterEach(() => rm(top, { recursive: true }));

async function run([program = '', ...args]: readonly string[]): Promise<ProbeResult> {
  const { exitCode = -1, stdout, stderr } = await execa(program, args, { reject: false });
  return { exit: exitCode, stdout, stderr };
}

/** Reads the observation, optionally with another result of the probe for holders. */
async function look(holders?: ProbeResult) {
  const results = new Map<string, ProbeResult>();
  for (const { name, argv } of sharedProbes({ shared: true, file }))
    results.set(name, await run(argv));
  results.set('mounts', await run(['cat', '/proc/self/mountinfo']));
  if (holders !== undefined) results.set('holders', holders);
  return readShared({ shared: true, file }, join(top, 'mount', UID), results);
}

const holds = async ({ argv, expect: wanted }: Precondition): Promise<boolean> => {
  const { exit, stdout } = await run(argv);
  return exit === wanted.exit && stdout === (wanted.stdout as { is: string }).is;
};

test('readShared finds owners and readers through a symbolic link', async () => {
  await writeFile(`${file}.owner.7`, `${held}\n`);
  await writeFile(`${file}.reader.n3-t2`, `${held}\n`);
  expect(await look()).toMatchObject({
    owners: [{ number: 7, state: { is: 'held', by: { node: 'n2' } } }],
    marks: [{ node: 'n3' }],
  });
});

test('preconditions find owners and readers through a symbolic link', async () => {
  expect([await holds(noOthers(file, [])), await holds(noReaders(file))]).toEqual([true, true]);
  await writeFile(`${file}.owner.7`, held);
  await writeFile(`${file}.reader.n3-t2`, held);
  expect([await holds(noOthers(file, [])), await holds(noReaders(file))]).toEqual([false, false]);
  expect(await holds(noOthers(file, [{ number: 7, text: held }]))).toBe(true);
});

test('preconditions fail if the directory is missing', async () => {
  await rm(join(top, 'mount'), { recursive: true });
  expect([await holds(noOthers(file, [])), await holds(noReaders(file))]).toEqual([false, false]);
});

test('readShared rejects a partial listing after another node removed a file', async () => {
  const gone = `find: '${file}.new.n2-t1': No such file or directory`;
  const listed = `@${basename(file)}.owner.7|1700000000.5|`;
  await expect(look({ exit: 1, stdout: listed, stderr: gone })).rejects.toThrow(ObservationError);
  expect(await look({ exit: 1, stdout: '', stderr: gone })).toMatchObject({ owners: [] });
});
