import { expect, test } from '@jest/globals';
import type { Io } from '../../../src/cli/lib/io.ts';
import { run as runProgram } from '../../../src/cli/run.ts';
import { createRunCommand, globalArguments, type Run } from '../../../src/cli/ui/run-command.ts';
import { readBlocked, readWhy } from '../../../src/cli/ui/why-detail.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { ready, volumeNamed } from '../../support/volumes.ts';

test.each([
  [{}, ['--no-color']],
  [
    { kubeconfig: '/a b', context: '-c', namespace: 'n', as: 'ann', requestTimeout: 5000 },
    [
      '--no-color',
      '--kubeconfig',
      '/a b',
      '--context=-c',
      '--namespace',
      'n',
      '--as',
      'ann',
      '--request-timeout',
      '5000ms',
    ],
  ],
])('the global flags %j are passed on', (flags, words) => {
  expect(globalArguments(flags)).toEqual(words);
});

/** Returns what runs commands of a program of the test, or of Stowage in a world. */
async function running(run: Run, world: Parameters<typeof fakeIo>[0] = {}) {
  const { io } = fakeIo(world);
  const connection = await io.connect({});
  return {
    connection,
    command: createRunCommand(run, io, connection, {
      ...{ context: 'prod', namespace: 'team', color: true },
    }),
  };
}

test('a command gets the flags but the namespace, the connection, no terminal and no input', async () => {
  let seen: { argv: readonly string[]; io: Io } | undefined;
  const { command, connection } = await running(
    async (argv, io) => {
      seen = { argv, io };
      io.stdout.write('out');
      io.stderr.write('err');
      return 5;
    },
    { tty: true },
  );
  expect(await command(['why', 'volume/a'])).toEqual({ stdout: 'out', stderr: 'err', exitCode: 5 });
  expect(seen?.argv).toEqual(['--no-color', '--context', 'prod', 'why', 'volume/a']);
  expect(await seen?.io.connect({})).toBe(connection);
  expect(seen?.io.stdout.isTTY).toBeUndefined();
  expect(seen?.io.stdin.isTTY).toBeUndefined();
  for await (const _ of seen?.io.stdin ?? []) throw new Error('there is input');
});

test('a command that does not end is ended, and one that prints too much', async () => {
  const clock = new FakeClock();
  const { command } = await running(
    (_argv, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { clock },
  );
  const result = expect(command([])).rejects.toMatchObject({ code: 'timeout' });
  await clock.advance(120_000);
  await result;
  const { command: loud } = await running(async (_argv, { stdout }) => {
    for (let index = 0; index < 40; index += 1) stdout.write('x'.repeat(1 << 20));
    return 0;
  });
  await expect(loud([])).rejects.toThrow('printed too much');
});

test('at most four commands run at a time', async () => {
  let most = 0;
  let now = 0;
  const ends: (() => void)[] = [];
  const { command } = await running(async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => ends.push(resolve));
    now -= 1;
    return 0;
  });
  const all = Array.from({ length: 9 }, () => command([]));
  let ended = 0;
  while (ended < 9) {
    ended += ends.length;
    for (const end of ends.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  expect(most).toBe(4);
});

test('more than 64 waiting commands are refused, until one ends', async () => {
  const ends: (() => void)[] = [];
  const { command } = await running(async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return 0;
  });
  const all = Array.from({ length: 4 + 64 }, () => command([]));
  await until(() => ends.length === 4);
  await expect(command([])).rejects.toThrow('64 commands wait already: retry');
  ends.shift()?.();
  await until(() => ends.length === 4);
  all.push(command([]));
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await Promise.all(all)).toHaveLength(69);
});

const FAILED = volumeNamed('data1', {
  ...ready('False', 'CreationError', 'no space'),
  phase: 'Failed',
});

test('why of a Volume is what the command prints', async () => {
  const { command } = await running(runProgram, { objects: { 'volumes/data1': FAILED } });
  expect(await readWhy('volume/data1', command)).toEqual({
    found: expect.objectContaining({
      nothing: '',
      cause: expect.stringMatching(/^[A-Z]/),
      holdup: expect.stringMatching(/./),
    }),
  });
});

test('why of a Volume that is not found, or not readable, is missing with the reason', async () => {
  const { command: gone } = await running(runProgram);
  expect(await readWhy('volume/data1', gone)).toEqual({
    missing: expect.stringContaining('not found'),
  });
  const { command: refused } = await running(runProgram, {
    failures: { 'get volumes/data1': refusal(403) },
  });
  expect(await readWhy('volume/data1', refused)).toEqual({ missing: expect.stringMatching(/./) });
});

test('the causes are those that the command prints, with the time', async () => {
  const { command } = await running(runProgram, { objects: { 'volumes/data1': FAILED } });
  const { groups, at, note } = await readBlocked(command, () => 0);
  expect({ at, note }).toEqual({ at: '1970-01-01T00:00:00.000Z', note: '' });
  expect(groups).toEqual([
    expect.objectContaining({
      root: expect.stringMatching(/^(Volume|Node) /),
      objects: [{ kind: 'Volume', name: 'data1' }],
      total: 1,
    }),
  ]);
});

test('a kind that may not be listed is a note', async () => {
  const { command } = await running(runProgram, { failures: { 'list pods/*': refusal(403) } });
  const { groups, note } = await readBlocked(command, () => 0);
  expect(groups).toEqual([]);
  expect(note).toMatch(/not checked/);
});

test('a failure of the command is an error', async () => {
  const { command } = await running(runProgram, { failures: { 'list volumes/*': refusal(500) } });
  await expect(readBlocked(command, () => 0)).rejects.toThrow(/./);
});
