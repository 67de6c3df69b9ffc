import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { type ErrorCode, StowageError } from '../../src/api/errors.ts';
import { SignalError } from '../../src/cli/lib/signals.ts';
import { createProgram } from '../../src/cli/program.ts';
import { run } from '../../src/cli/run.ts';
import { nodeNamed, podNamed } from '../support/cluster-objects.ts';
import { fakeExecutor } from '../support/fake-executor.ts';
import { fakeIo, stowage, type World } from '../support/fake-io.ts';
import { refusal } from '../support/refusals.ts';
import { claimNamed, SNAPSHOT } from '../support/snapshots.ts';
import { volumeNamed } from '../support/volumes.ts';

const VOLUME = 'create volume a --node n1 --size 1Gi --storage-class fast';
const MANIFEST = JSON.stringify(volumeNamed('a'));

/** The shortest form of each command that sends requests to a server. */
const COMMANDS: Record<string, string> = {
  'create volume': VOLUME,
  'create storageclass': 'create storageclass fast --static',
  'create snapshot': 'create snapshot prod/s --pvc p',
  'create snapshotclass': 'create snapshotclass fast',
  'create backup': 'create backup prod/b --pvc p --to https://example.com/b',
  'create manifest': 'create -f -',
  'get volumes': 'get volumes',
  'get nodes': 'get nodes',
  'get attachments': 'get attachments',
  'get snapshots': 'get snapshots',
  'get storageclasses': 'get storageclasses',
  'get snapshotclasses': 'get snapshotclasses',
  'get grants': 'get grants',
  'get populators': 'get populators',
  'get several': 'get volumes,storageclasses',
  'top volumes': 'top volumes',
  'top nodes': 'top nodes',
  'describe volume': 'describe volume a',
  'describe pvc': 'describe pvc prod/a',
  'describe snapshot': 'describe snapshot prod/a',
  'describe node': 'describe node n1',
  'describe pod': 'describe pod prod/a',
  'describe storageclass': 'describe storageclass fast',
  'describe snapshotclass': 'describe snapshotclass fast',
  'delete volume': 'delete volume a',
  'delete storageclass': 'delete storageclass fast',
  'delete snapshotclass': 'delete snapshotclass fast',
  'resize volume': 'resize volume a 2Gi',
  'retry volume': 'retry volume a',
  'pause volume': 'pause volume a',
  'pause node': 'pause node n1',
  'resume volume': 'resume volume a',
  'resume node': 'resume node n1',
  'detach volume': 'detach volume a --node n1',
  'adopt volume': 'adopt volume a --node n1 --device /dev/sdb --storage-class fast',
  'delete manifest': 'delete -f -',
  'check cluster': 'check cluster',
  'check node': 'check node n1',
  'check grant': 'check grant --from test --snapshot prod/s',
  'restore snapshot': 'restore snapshot prod/s --to test/c',
  'grant snapshot': 'grant snapshot prod/s --to test',
  'revoke grant': 'revoke grant prod/g',
  'register populator':
    'register populator hello --group hello.example.com --kind Hello --image i --mount-path /mnt',
  'unregister populator': 'unregister populator hello',
  install: 'install',
  uninstall: 'uninstall --yes',
  diff: 'diff -f -',
  why: 'why volume a',
  'support-bundle': 'support-bundle -f -',
  ui: 'ui',
  version: 'version',
  watch: 'watch',
};
const WITHOUT_SERVER = ['print sudoers', 'sandbox', 'completion', 'help'];

const CODES: [ErrorCode, number][] = [
  ['failed', 1],
  ['usage', 2],
  ['not-found', 3],
  ['forbidden', 4],
  ['conflict', 5],
  ['timeout', 6],
  ['partial', 7],
];

const EVERY = Object.entries(COMMANDS).flatMap(([name, line]) =>
  // Exit status 1 means a difference, as with diff(1).
  CODES.map(
    ([code, exit]) => [name, code, name === 'diff' && exit === 1 ? 2 : exit, line] as const,
  ),
);

test.each(EVERY)('%s exits after a failure of code %s with %d', async (_name, code, exit, line) => {
  const { io, outcome } = fakeIo({ stdin: MANIFEST });
  const connect = async () => {
    throw new StowageError(code, 'It broke', { hint: 'Mend it.' });
  };
  expect(await run(line.split(' '), { ...io, connect })).toBe(exit);
  expect(outcome.err).toContain('error: It broke\nhint: Mend it.\n');
});

test.each(
  Object.entries(COMMANDS).flatMap(([name, line]) => [
    [name, 'SIGINT', 130, line] as const,
    [name, 'SIGTERM', 143, line] as const,
  ]),
)('%s exits silently on %s with %d', async (_name, signal, exit, line) => {
  const { io, outcome } = fakeIo({
    stdin: MANIFEST,
    signal: AbortSignal.abort(new SignalError(signal)),
  });
  const connect = () => Promise.reject(io.signal.reason);
  expect(await run(line.split(' '), { ...io, connect })).toBe(exit);
  expect(outcome.err).toBe('');
});

test.each(['SIGINT', 'SIGTERM'] as const)('sandbox exits cleanly on %s with 0', async (signal) => {
  const world = { signal: AbortSignal.abort(new SignalError(signal)) };
  const { code, out, err } = await stowage(['sandbox'], world);
  expect(code).toBe(0);
  expect(out).toContain('token:');
  expect(err).toContain('note: pods do not run here');
});

test.each([...Object.keys(COMMANDS), ...WITHOUT_SERVER])(
  '%s exits with 2 on wrong usage',
  async (name) => {
    const words = name.replace(' manifest', ' -f -').split(' ');
    expect(await stowage([...words, '--frobnicate'])).toMatchObject({
      code: 2,
      out: '',
      requests: [],
    });
  },
);

test('the test tables list every command', () => {
  const leaves = (command: Command, path: string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((inner) => leaves(inner, [...path, inner.name()]));
  const all = leaves(createProgram(fakeIo().io), []);
  expect(all.toSorted()).toEqual([...Object.keys(COMMANDS), ...WITHOUT_SERVER].toSorted());
});

test.each([
  [400, 1],
  [401, 4],
  [403, 4],
  [404, 3],
  [408, 6],
  [409, 5],
  [410, 1],
  [422, 1],
  [429, 1],
  [500, 1],
  [503, 1],
  [504, 6],
])('get volume exits after an HTTP response %d with %d', async (status, exit) => {
  const failures = { 'get volumes/a': refusal(status) };
  expect(await stowage(['get', 'volume', 'a'], { failures })).toMatchObject({ code: exit });
});

describe('a command that fails for some of its objects', () => {
  const failure = new StowageError('forbidden', 'not that one');
  const objects = () => ({
    'volumes/a': volumeNamed('a', { phase: 'Available' }),
    'volumes/b': volumeNamed('b', { phase: 'Available' }),
    'volumesnapshots/s': SNAPSHOT,
    'persistentvolumeclaims/p': claimNamed('p'),
    'nodes/n1': nodeNamed('n1'),
    'pods/p': podNamed('p', 'default'),
  });
  const two = `${MANIFEST}\n---\n${JSON.stringify(volumeNamed('b'))}`;

  test.each<[string, World]>([
    ['get volumes a nowhere', {}],
    ['get attachments a nowhere', {}],
    ['get snapshots s nowhere', {}],
    ['top volumes a nowhere', { executor: fakeExecutor({}) }],
    ['describe volume a nowhere', {}],
    ['describe pvc p nowhere', {}],
    ['describe node n1 nowhere', {}],
    ['describe pod p nowhere', {}],
    ['get volumes,storageclasses a', {}],
    ['get volume/a sc/nowhere', {}],
    ['delete volume a nowhere', {}],
    ['delete -f -', { failures: { 'get volumes/b': failure } }],
    ['create -f -', { objects: {}, failures: { 'create volumes/b': failure } }],
    [`${VOLUME} --node n2`, { objects: {}, failures: { 'create volumes/a-n2': failure } }],
    ['diff -f -', { failures: { 'get volumes/b': failure } }],
  ])('%s exits with 7', async (line, world) => {
    expect(
      await stowage(line.split(' '), { objects: objects(), stdin: two, ...world }),
    ).toMatchObject({
      code: 7,
      err: expect.stringMatching(/error: 1 of 2 failed\n$/),
    });
  });
});
