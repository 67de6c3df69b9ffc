import { expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { liveNames } from '../../../src/cli/complete/live.ts';
import { run } from '../../../src/cli/run.ts';
import type { Connection } from '../../../src/kube/connect.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { fakeIo, stowage, type World } from '../../support/fake-io.ts';
import { SNAPSHOT } from '../../support/snapshots.ts';
import { classNamed, volumeNamed } from '../../support/volumes.ts';

const named = (name: string) =>
  ({ apiVersion: 'v1', kind: 'Thing', metadata: { name } }) as KubeObject;
const OBJECTS = {
  'volumes/data1': volumeNamed('data1', { phase: 'Available' }),
  'volumes/data2': volumeNamed('data2'),
  'volumes/other': volumeNamed('other'),
  'nodes/n1': named('n1'),
  'nodes/n2': named('n2'),
  'namespaces/prod': named('prod'),
  'persistentvolumeclaims/data-0': { ...named('data-0'), status: { phase: 'Bound' } } as KubeObject,
  'pods/db-0': named('db-0'),
  'volumesnapshots/foo': { ...SNAPSHOT, metadata: { name: 'foo', namespace: 'prod' } },
  'storageclasses/local': classNamed('local'),
  'storageclasses/fast': classNamed('fast', { provisioner: 'volume.stowage.dev' }),
};
const complete = (line: string, world: World = { objects: OBJECTS }) =>
  stowage(['__complete', ...line.split(' ')], world);

test.each([
  ['get vol', 'volumes\tlist Volumes\n:4\n'],
  ['delete volume --as', '--as\tuser to impersonate\n:4\n'],
  ['delete volume da', 'data1\tAvailable on n1\ndata2\tUnknown on n1\n:4\n'],
  ['get volumes --node=n1,', 'n1,n1\nn1,n2\n:4\n'],
  ['create volume --type r', 'raw\n:4\n'],
  ['create volume --storage-class ', 'local\tkubernetes.io/no-provisioner\n:4\n'],
  ['restore snapshot foo --storage-class ', 'fast\tvolume.stowage.dev\n:4\n'],
  ['restore snapshot foo --to ', 'prod/\n:6\n'],
  ['restore snapshot ', 'foo\tready\nprod/\n:4\n'],
  ['restore snapshot prod/', 'prod/foo\tready\n:4\n'],
  ['restore snapshot pro', 'prod/\n:6\n'],
  ['describe node n', 'n1\nn2\n:4\n'],
  ['describe pvc da', 'data-0\tBound\n:4\n'],
  ['describe pod db', 'db-0\n:4\n'],
  ['describe storageclass lo', 'local\tkubernetes.io/no-provisioner\n:4\n'],
  ['describe snapshot prod/', 'prod/foo\tready\n:4\n'],
  ['why volume/da', 'volume/data1\tAvailable on n1\nvolume/data2\tUnknown on n1\n:4\n'],
  ['create -f ', ':0\n'],
  ['create volume --size ', ':4\n'],
])('completes the command line "%s"', async (line, out) => {
  expect(await complete(line)).toMatchObject({ code: 0, out, err: '' });
});

test.each([
  ['get snapshots ', 'default'],
  ['get snapshots -n prod ', 'prod'],
  ['-n test restore snapshot prod/', 'prod'],
  ['create snapshot prod/s --pvc ', 'prod'],
  ['describe pvc prod/a ', 'default'],
])('completion of "%s" lists objects of namespace %s', async (line, namespace) => {
  const { requests } = await complete(line);
  expect(requests[0]?.options).toMatchObject({ namespace });
});

test('completion uses the cluster that the flags name, with a timeout of 1 s', async () => {
  const { connections } = await complete('--kubeconfig f --context=c --as u -n x get volumes ');
  expect(connections).toMatchObject([
    { kubeconfig: 'f', context: 'c', as: 'u', namespace: 'x', requestTimeoutMs: 1000 },
  ]);
});

test('completion omits names that need quoting, and prints no control characters', async () => {
  const names = [
    '$(id)',
    '`id`',
    'a;id',
    'a b',
    "a'b",
    'a\nb',
    '-rf',
    '~root',
    'a\u001b[2J',
    'good',
  ];
  const objects = Object.fromEntries(
    names.map((name) => [
      `volumes/${name}`,
      volumeNamed(name, { phase: 'Avail\u001b[2J\table' as 'Available' }),
    ]),
  );
  expect((await complete('delete volume ', { objects })).out).toBe(
    'good\tAvail\ufffd[2J able on n1\n:4\n',
  );
});

test.each<[string, World]>([
  ['may not be listed', { failures: { 'list volumes/*': new StowageError('forbidden', 'no') } }],
  ['do not exist', {}],
])('completion silently omits objects that %s', async (_, world) => {
  expect(await complete('delete volume ', world)).toMatchObject({ code: 0, out: ':4\n', err: '' });
});

test('completion exits with 0 if it cannot connect to the cluster', async () => {
  const { io, outcome } = fakeIo();
  const connect = () => Promise.reject(new StowageError('failed', 'no kubeconfig'));
  expect(await run(['__complete', 'delete', 'volume', ''], { ...io, connect })).toBe(0);
  expect(outcome).toMatchObject({ out: ':4\n', err: '' });
});

test('completion waits at most 1 s for a cluster that never answers', async () => {
  const clock = new FakeClock();
  const { io, outcome } = fakeIo({ clock });
  const running = run(['__complete', 'delete', 'volume', ''], {
    ...io,
    connect: () => new Promise(() => {}),
  });
  await clock.advance(999);
  expect(outcome.out).toBe('');
  await clock.advance(1);
  expect(await running).toBe(0);
  expect(outcome).toMatchObject({ out: ':4\n', err: '' });
});

test.each([
  ['b2', ['1', '2'], ['b2']],
  ['b', ['1', '2', '3'], ['b2', 'b3', 'bz']],
  ['a', ['1'], ['a1']],
  ['c', ['1', '2', '3'], ['c4']],
  ['d', ['1', '2', '3'], []],
])(
  'completion reads no pages after the last that can hold names beginning with %s',
  async (start, asked, words) => {
    const pages: Record<string, string[]> = { 1: ['a1', 'b2'], 2: ['b3', 'bz'], 3: ['c4'] };
    const read: string[] = [];
    const client = {
      list: async (_: unknown, options: { continue?: string }) => {
        const page = options.continue ?? '1';
        read.push(page);
        return {
          items: (pages[page] ?? []).map((name) => volumeNamed(name)),
          metadata: { ...(page !== '3' && { continue: String(Number(page) + 1) }) },
        };
      },
    };
    const connection = { client } as unknown as Connection;
    const found = await liveNames(
      { live: 'volumes' },
      start,
      '',
      connection,
      new AbortController().signal,
    );
    expect({ read, words: found.map(({ word }) => word) }).toEqual({ read: asked, words });
  },
);
