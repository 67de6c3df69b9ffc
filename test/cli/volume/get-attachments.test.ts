import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Attachment, Volume } from '../../../src/api/volume.ts';
import type { WatchEvent } from '../../../src/kube/types.ts';
import { attachmentOn } from '../../support/cluster-objects.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { screen } from '../../support/screen.ts';
import { volumeNamed } from '../../support/volumes.ts';
import { watchVolumes } from '../../support/watched-objects.ts';

const on = (node: string, more: Partial<Attachment> = {}) =>
  attachmentOn(node, { pods: ['db/db-0'], since: '2029-12-31T23:00:00Z', ...more });
const withThem = (name: string, attachments: Attachment[], resourceVersion = '1'): Volume => {
  const volume = volumeNamed(name, { phase: 'Available', attachments });
  return { ...volume, metadata: { ...volume.metadata, resourceVersion } };
};
const uncertain = on('n2', {
  state: 'Uncertain',
  readOnly: true,
  safeToMount: false,
  pods: ['db/r-0', 'db/r-1'],
  since: '2029-12-31T23:59:00Z',
  message: 'node n2 does not answer',
});
const objects: Record<string, KubeObject> = {
  'volumes/b': withThem('b', [uncertain, on('n1', { readOnly: true, device: 'loop4' })]),
  'volumes/a': withThem('a', [
    on('n3', { state: 'Detaching', pods: [], safeToDetach: true, device: 'loop3' }),
  ]),
  'volumes/none': volumeNamed('none'),
};
const get = (argv: string[] = [], world: World = {}) =>
  stowage(['get', 'attachments', ...argv], { objects, ...world });

test('get attachments prints a table', async () => {
  const { code, out, err } = await get();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'VOLUME   NODE   STATE       PODS            SINCE',
      'a        n3     Detaching   <none>          60m',
      'b        n1     Attached    db/db-0         60m',
      'b        n2     Uncertain   db/r-0,db/r-1   60s',
      '',
    ].join('\n'),
  );
});

test('a wide table names the device on each node where it is known', async () => {
  const { out } = await get(['-o', 'wide', '--no-headers']);
  expect(out.split('\n').map((line) => line.split(/ {3,}/).slice(5))).toEqual([
    ['yes', 'yes', 'no', 'loop3', '<none>'],
    ['yes', 'no', 'yes', 'loop4', '<none>'],
    ['no', 'no', 'yes', '<none>', 'node n2 does not answer'],
    [],
  ]);
});

describe('get attachments as data', () => {
  const a = {
    volume: 'a',
    node: 'n3',
    state: 'Detaching',
    pods: [],
    since: '2029-12-31T23:00:00Z',
    safeToMount: true,
    safeToDetach: true,
    readOnly: false,
    device: 'loop3',
  };

  test('is a list even for one name, as a Volume has several attachments or none', async () => {
    expect(JSON.parse((await get(['a', '-o', 'json'])).out)).toEqual({ items: [a] });
    expect(JSON.parse((await get(['none', '-o', 'json'])).out)).toEqual({ items: [] });
    const { items } = JSON.parse((await get(['-o', 'json'])).out);
    expect(items).toHaveLength(3);
    expect(items[2]).toMatchObject({
      node: 'n2',
      readOnly: true,
      message: 'node n2 does not answer',
    });
    expect(parse((await get(['-o', 'yaml'])).out)).toEqual({ items });
  });

  test('is one name per line with -o name', async () => {
    expect((await get(['-o', 'name'])).out).toBe(
      'attachment/a/n3\nattachment/b/n1\nattachment/b/n2\n',
    );
  });
});

test.each([
  [
    ['--node', 'n1,n3'],
    ['a/n3', 'b/n1'],
  ],
  [['b', '--node', 'n2'], ['b/n2']],
  [['--node', 'n4'], []],
])('get attachments %j lists only attachments on these nodes', async (flags, names) => {
  const { code, out } = await get([...flags, '-o', 'name']);
  expect(code).toBe(0);
  expect(out).toBe(names.map((name) => `attachment/${name}\n`).join(''));
});

test.each([
  ['volume', ['a/n3', 'b/n1', 'b/n2']],
  ['node', ['b/n1', 'b/n2', 'a/n3']],
  ['state', ['b/n1', 'a/n3', 'b/n2']],
  ['age', ['b/n2', 'a/n3', 'b/n1']],
])('get attachments --sort-by %s sorts the rows', async (field, names) => {
  const { out } = await get(['--sort-by', field, '-o', 'name']);
  expect(out.match(/\w\/n\d/g)).toEqual(names);
});

test('get attachments -l sends the selector to the server, and excludes names', async () => {
  const { requests } = await get(['-l', 'app=db']);
  expect(requests[0]).toMatchObject({
    what: 'list volumes/*',
    options: { labelSelector: 'app=db' },
  });
  expect(await get(['a', '-l', 'app=db'])).toMatchObject({ code: 2, requests: [] });
});

test('get attachments reports that there are none, and missing Volumes', async () => {
  expect(await get([], { objects: {} })).toMatchObject({
    code: 0,
    out: '',
    err: 'No attachments found\n',
  });
  expect(await get(['x'])).toMatchObject({ code: 3, out: '', err: 'error: volumes/x not found\n' });
  expect(await get(['x', 'a', '-o', 'name'])).toMatchObject({ code: 7, out: 'attachment/a/n3\n' });
});

test.each(['attachment', 'att'])('get attachments is also called get %s', async (noun) => {
  expect(await stowage(['get', noun, '-o', 'name'], { objects })).toMatchObject({ code: 0 });
});

describe('get attachments -w', () => {
  const first = withThem('a', [on('n1')]);
  const moving: WatchEvent[] = [
    { type: 'MODIFIED', object: withThem('a', [on('n1', { state: 'Detaching', pods: [] })], '2') },
    // A change of another field.
    { type: 'MODIFIED', object: withThem('a', [on('n1', { state: 'Detaching', pods: [] })], '3') },
    { type: 'MODIFIED', object: withThem('a', [], '4') },
    {
      type: 'MODIFIED',
      object: withThem('a', [on('n2', { state: 'Attaching', safeToMount: false })], '5'),
    },
  ];

  const watch = (argv: string[], events: WatchEvent[], world: World = {}) =>
    watchVolumes(['get', 'attachments', '-w', ...argv], { 'volumes/a': first }, [events], world);

  test('prints each change of an attachment, and its detach', async () => {
    const { code, out } = await watch([], moving);
    expect(code).toBe(130);
    expect(out.split('\n').map((line) => line.split(/ +/).slice(0, 4).join(' '))).toEqual([
      'VOLUME NODE STATE PODS',
      'a n1 Attached db/db-0',
      'a n1 Detaching <none>',
      'a n1 Detached <none>',
      'a n2 Attaching db/db-0',
      '',
    ]);
  });

  test('reports the detach in JSON, too', async () => {
    const { out } = await watch(['-o', 'json'], moving.slice(0, 3));
    const last = out.slice(out.lastIndexOf('\n{') + 1);
    expect(JSON.parse(last)).toEqual({
      volume: 'a',
      node: 'n1',
      state: 'Detached',
      pods: [],
      since: expect.stringMatching(/^2030-01-01T00:00:0/),
      safeToMount: false,
      safeToDetach: false,
      readOnly: false,
    });
  });

  test('reports a Volume that is no longer selected as Gone, not as Detached', async () => {
    const { out } = await watch(['-l', 'app=db'], [{ type: 'DELETED', object: first }]);
    expect(out).toMatch(/\na +n1 +Gone +<none> /);
  });

  test('--node prints changes on those nodes only', async () => {
    const { out } = await watch(['--node', 'n2', '-o', 'name'], moving);
    expect(out).toBe('attachment/a/n2\n');
  });

  test('keeps one table up to date on a terminal', async () => {
    const terminal = screen(100, 10);
    await watch(['--no-headers'], moving, { terminal });
    expect(terminal.shown()).toEqual(['a   n2   Attaching   db/db-0   60m']);
    const before = screen(100, 10);
    await watch(['--no-headers'], moving.slice(0, 3), { terminal: before });
    expect(before.shown()).toEqual([expect.stringMatching(/^a +n1 +Detached +<none>/)]);
  });
});

test.each([[[]], [['-o', 'wide']], [['-o', 'name']], [['-o', 'json']], [['-o', 'yaml']]])(
  'get attachments prints no control characters, with %j',
  async (flags) => {
    const evil = '\u001b]0;owned\u0007\u009b2J';
    const row = on(`n${evil}`, { pods: [evil], message: evil, since: evil });
    const { code, out } = await get(flags, { objects: { 'volumes/a': withThem('a', [row]) } });
    expect(code).toBe(0);
    expect(out).toMatch(/owned/);
    expectPrintable(out);
  },
);
