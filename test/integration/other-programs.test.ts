import { appendFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Executor, Probe, Step } from '../../src/nodes/job.ts';
import { findFreeSpace, freeSpaceProbes } from '../../src/storage/free-space.ts';
import { allocatedBytes, readFile as readFacts, STAT } from '../../src/storage/loopfile/file.ts';
import { formProbes, misunderstood } from '../../src/storage/node-check/forms.ts';
import { answersOf, listed, optional } from '../../src/storage/probe-results.ts';
import { durableFile } from '../../src/storage/records.ts';
import { readState, stateProbes, unchanged } from '../../src/storage/snapshot/source.ts';
import { needPackages } from '../support/debian-packages.ts';
import { localJobs } from '../support/local-jobs.ts';
import { describeAsRoot } from '../support/root.ts';

/** Programs of coreutils that probes, steps and scripts of Stowage run. */
const COREUTILS = [
  ...['base64', 'cat', 'chmod', 'cp', 'cut', 'date', 'dd', 'df', 'head', 'id', 'install', 'ls'],
  ...['mkdir', 'mkfifo', 'mktemp', 'mv', 'od', 'paste', 'printf', 'readlink', 'realpath', 'rm'],
  ...['rmdir', 'sha256sum', 'sleep', 'stat', 'sync', 'tail', 'tee', 'test', 'timeout', 'touch'],
  ...['tr', 'truncate', 'wc'],
];

/** Returns programs that run those of one binary with several, first on the PATH. */
const of = (binary: string, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `exec ${binary} ${name} "$@"`]));

const step = (...argv: string[]): Step => ({ name: `run ${argv[0]}`, argv, preconditions: [] });

/** The scripts of the transport run these programs, too. */
describeAsRoot('a node with uutils coreutils', () => {
  let node: Awaited<ReturnType<typeof localJobs>>;
  let executor: Executor;
  let directory: string;
  beforeAll(async () => {
    await needPackages({ coreutils: 'rust-coreutils' });
    node = await localJobs(of('coreutils', COREUTILS));
    ({ executor } = node);
    directory = join(node.path, 'files');
    await mkdir(directory);
  });
  afterAll(() => node?.remove());

  const observe = async (...probes: Probe[]) => executor.observe('n1', probes);
  const run = (id: string, ...steps: Step[]) =>
    executor.submit('n1', { key: { subject: 'v1', id }, steps }, 60_000);

  test('understands all forms', async () => {
    expect(misunderstood(await observe(...formProbes()))).toEqual([]);
  });

  test('reports a dd that cannot write past the cache', async () => {
    const file = join(directory, 'direct');
    await writeFile(file, Buffer.alloc(1 << 20));
    const argv = ['dd', 'if=/dev/zero', `of=${file}`, 'bs=1M', 'count=1', 'oflag=direct'];
    const written = await run('direct', step(...argv, 'conv=notrunc,nocreat'));
    const version = { name: 'dd', argv: ['dd', '--version'] };
    const found = misunderstood(await observe(version, ...formProbes()));
    expect(found.some((form) => form.argv.includes('oflag=direct'))).toBe(
      written.state !== 'succeeded',
    );
  });

  test('reports a missing file as missing, for each program that reads files', async () => {
    const missing = join(directory, 'missing');
    const argvs = [
      ['cat', missing],
      ['stat', '-c', '%d', '--', missing],
      ['stat', '-L', '-c', '%t:%T', missing],
      ['stat', '-f', '-c', '%T', '--', missing],
      ['find', `${missing}/`, '-maxdepth', '1'],
    ];
    const results = await observe(...argvs.map((argv, index) => ({ name: String(index), argv })));
    const get = answersOf(results);
    expect(argvs.map((_, index) => optional('a', get(String(index))))).toEqual(
      argvs.map(() => undefined),
    );
    expect(listed('a', get('4'))).toBe('');
    const below = { name: 'below', argv: ['cat', join(directory, 'file-of-it', 'x')] };
    await writeFile(join(directory, 'file-of-it'), '');
    const found = answersOf(await observe(below))('below');
    expect(() => optional('a', found)).toThrow('Not a directory');
  });

  test('reads the facts of a file and the free space', async () => {
    const file = join(directory, 'facts');
    await writeFile(file, 'x'.repeat(10_000));
    const { ino, blocks } = await stat(file);
    const results = await observe(
      { name: 'file', argv: [...STAT, file] },
      ...freeSpaceProbes(join(directory, 'none')),
    );
    const result = answersOf(results)('file');
    expect(readFacts(file, result)).toEqual({ type: 'file', sizeBytes: 10_000n, inode: `${ino}` });
    expect(allocatedBytes(result)).toBe(BigInt(blocks) * 512n);
    expect(findFreeSpace(join(directory, 'none'), results)).toBeGreaterThan(0n);
  });

  test('notices a write that follows within the same second', async () => {
    const file = join(directory, 'written');
    await writeFile(file, 'x');
    const state = async () => {
      const results = await observe(...stateProbes(file, file));
      return readState(answersOf(results));
    };
    const before = await state();
    const guarded = (id: string) =>
      run(id, {
        ...step('true'),
        preconditions: [unchanged(file, before as Parameters<typeof unchanged>[1])],
      });
    expect(await guarded('before')).toEqual({ state: 'succeeded' });
    // The clock of a file system has the granularity of the tick.
    for (const from = Date.now(); Date.now() < from + 20; );
    await appendFile(file, '');
    await writeFile(file, 'y');
    expect((await state()).state).not.toBe(before.state);
    expect(await guarded('after')).toMatchObject({ state: 'guarded' });
  });

  test('carries out the steps of a file: records, size, copy, rename, sync, removal', async () => {
    const records = join(directory, 'records');
    const partial = join(directory, 'v1.partial');
    const file = join(directory, 'v1');
    const copy = join(directory, 'copy');
    const made = await run(
      'make',
      step('install', '-d', '-m', '0700', records),
      ...durableFile('intent', join(records, 'intent'), '{"version":1}\n'),
      step('sync', records, directory),
      step('truncate', '-s', '67108864', '--', partial),
      step('sync', partial),
      { ...step('mv', '-T', '--', partial, file), preconditions: [] },
      step('sync', file, directory),
      step('cp', '--reflink=auto', '--sparse=always', '--', file, copy),
      step('install', '-D', '-m', '0600', '/dev/null', join(records, 'below', 'cancel')),
    );
    expect(made).toEqual({ state: 'succeeded' });
    expect(await readFile(join(records, 'intent'), 'utf8')).toBe('{"version":1}\n');
    expect((await stat(records)).mode & 0o777).toBe(0o700);
    for (const each of [file, copy])
      expect(await stat(each)).toMatchObject({ size: 67_108_864, blocks: 0 });
    const taken = await run('taken', step('mv', '-T', '--', copy, records));
    expect(taken).toMatchObject({ state: 'failed', exit: 1 });
    const removed = await run(
      'remove',
      step('rm', '-f', '--', file, copy),
      step('sync', directory),
    );
    expect(removed).toEqual({ state: 'succeeded' });
    const results = await observe({ name: 'file', argv: [...STAT, file] });
    expect(readFacts(file, answersOf(results)('file'))).toEqual({ type: 'missing' });
  });
});

describeAsRoot('a node with busybox', () => {
  const APPLETS = ['find', 'cmp', ...COREUTILS.filter((name) => name !== 'printf')];
  let node: Awaited<ReturnType<typeof localJobs>>;
  beforeAll(async () => {
    await needPackages({ busybox: 'busybox-static' });
    node = await localJobs(of('busybox', APPLETS));
  });
  afterAll(() => node?.remove());

  describe('before a volume is tried', () => {
    test('each program that lacks an option is found', async () => {
      const results = await node.executor.observe('n1', formProbes());
      const programs = new Set(misunderstood(results).map(({ argv }) => argv[0]));
      expect([...programs].toSorted()).toEqual(
        ['cmp', 'cp', 'dd', 'df', 'find', 'install', 'readlink', 'realpath', 'timeout'].toSorted(),
      );
    });
  });
});
