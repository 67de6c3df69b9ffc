import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import type { WatchEvent } from '../../../src/kube/types.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { expectPrintable } from '../../support/printable-text.ts';
import { refusal } from '../../support/refusals.ts';
import { screen } from '../../support/screen.ts';
import { ready, volumeNamed } from '../../support/volumes.ts';
import { watchVolumes } from '../../support/watched-objects.ts';

const a = volumeNamed('a');
const data1 = volumeNamed('data1', {
  phase: 'Available',
  deviceName: 'loop3',
  devicePath: '/dev/disk/by-uuid/u',
  capacity: '1Gi',
  job: 'PrepareVolume/DONE',
  ...ready('True', 'Available'),
});
const objects = { 'volumes/a': a, 'volumes/data1': data1 };

test('get volumes prints a table', async () => {
  const { code, out, err } = await stowage(['get', 'volumes'], { objects });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'NAME    NODE   PHASE       READY    DEVICE   CAPACITY   STORAGECLASS   AGE',
      'a       n1     Unknown     <none>   <none>   <none>     fast           5h',
      'data1   n1     Available   True     loop3    1Gi        fast           5h',
      '',
    ].join('\n'),
  );
});

test('get volumes -o wide prints more columns', async () => {
  const { out } = await stowage(['get', 'vol', 'data1', '-o', 'wide'], { objects });
  expect(out).toBe(
    [
      'NAME    NODE   PHASE       READY   DEVICE   CAPACITY   STORAGECLASS   AGE   PATH                  JOB                  REASON',
      'data1   n1     Available   True    loop3    1Gi        fast           5h    /dev/disk/by-uuid/u   PrepareVolume/DONE   Available',
      '',
    ].join('\n'),
  );
});

test('get volumes rounds a capacity in bytes, except as data', async () => {
  const odd = volumeNamed('odd', { phase: 'Available', capacity: '66043392' });
  const world = { objects: { 'volumes/odd': odd } };
  expect((await stowage(['get', 'vol', '--no-headers'], world)).out).toMatch(/ 62Mi +fast /);
  const { out } = await stowage(['get', 'vol', 'odd', '-o', 'json'], world);
  expect(JSON.parse(out).status.capacity).toBe('66043392');
});

describe('get volumes as data', () => {
  test('is the object itself for one name', async () => {
    expect(JSON.parse((await stowage(['get', 'vol', 'a', '-o', 'json'], { objects })).out)).toEqual(
      a,
    );
    expect(parse((await stowage(['get', 'vol', 'a', '-o', 'yaml'], { objects })).out)).toEqual(a);
  });

  test('is a List for all Volumes, even if there are none', async () => {
    expect(
      JSON.parse((await stowage(['get', 'vol', '-o', 'json'], { objects })).out),
    ).toMatchObject({
      kind: 'List',
      items: [a, data1],
    });
    const { code, out } = await stowage(['get', 'vol', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind: 'List', items: [] });
  });

  test('can be selected by JSONPath, for one Volume or all', async () => {
    const of =
      (...names: string[]) =>
      (template: string) =>
        stowage(['get', 'vol', ...names, '-o', `jsonpath=${template}`], { objects });
    expect((await of('data1')('{.status.phase}')).out).toBe('Available');
    expect((await of()('{range .items[*]}{.metadata.name}{"\\n"}{end}')).out).toBe('a\ndata1\n');
    const wrong = await of()('{.items');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('a brace is not closed') });
    const other = await stowage(['get', 'vol', '-o', 'custom'], { objects });
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('jsonpath=TEMPLATE') });
  });

  test('is one name per line with -o name', async () => {
    const { out } = await stowage(['get', 'vol', '-o', 'name'], { objects });
    expect(out).toBe(
      'volume.storage.metalk8s.scality.com/a\nvolume.storage.metalk8s.scality.com/data1\n',
    );
  });
});

test('-A is accepted, as by kubectl', async () => {
  const { code, out } = await stowage(['get', 'volumes', '-A', '-o', 'name'], { objects });
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('/data1') });
});

test('get volumes reports that there are no Volumes', async () => {
  expect(await stowage(['get', 'volumes'])).toMatchObject({
    code: 0,
    out: '',
    err: 'No volumes found\n',
  });
});

test('get volumes -l sends the selector to the server', async () => {
  const { requests } = await stowage(['get', 'volumes', '-l', 'a in (b,c)'], { objects });
  expect(requests).toMatchObject([
    { what: 'list volumes/*', options: { labelSelector: 'a in (b,c)' } },
  ]);
});

test('a selector that the server cannot parse is wrong usage', async () => {
  const message = "unable to parse requirement: found ',', expected: identifier";
  const failures = { 'list volumes/*': refusal(400, message, { reason: 'BadRequest' }) };
  expect(await stowage(['get', 'volumes', '-l', 'a,,b'], { failures })).toMatchObject({
    code: 2,
    err: `error: --selector "a,,b": ${message}\nhint: Write it as in kubectl, such as 'app=db,tier in (a,b),!old'.\n`,
  });
  // The selector was not the cause.
  expect(await stowage(['get', 'volumes'], { failures })).toMatchObject({ code: 1 });
});

test('get volumes --no-headers omits the headings', async () => {
  const { out } = await stowage(['get', 'volumes', 'a', '--no-headers'], { objects });
  expect(out).toBe('a   n1   Unknown   <none>   <none>   <none>   fast   5h\n');
});

test('get volumes exits with 3 or 7 for missing names', async () => {
  expect(await stowage(['get', 'volumes', 'x'])).toMatchObject({
    code: 3,
    out: '',
    err: 'error: volumes/x not found\n',
  });
  const { code, out, err } = await stowage(['get', 'volumes', 'x', 'a', '-o', 'name'], { objects });
  expect({ code, out }).toEqual({ code: 7, out: 'volume.storage.metalk8s.scality.com/a\n' });
  expect(err).toBe('error: volumes/x not found\nerror: 1 of 2 failed\n');
});

const onNode = (name: string, nodeName: string, prepared?: string) => {
  const volume = volumeNamed(
    name,
    prepared === undefined ? undefined : { prepared: { node: prepared, paths: [], identity: '' } },
  );
  return { ...volume, spec: { ...volume.spec, nodeName } };
};

describe('get volumes --node', () => {
  const spread = {
    'volumes/a': onNode('a', 'n1'),
    'volumes/b': onNode('b', 'n2'),
    'volumes/c': onNode('c', 'n3'),
    'volumes/moved': onNode('moved', 'n3', 'n1'),
  };

  test.each([
    [
      ['--node', 'n1'],
      ['a', 'moved'],
    ],
    [
      ['--node', 'n1,n2'],
      ['a', 'b', 'moved'],
    ],
    [
      ['--node', 'n1', '--node', 'n2'],
      ['a', 'b', 'moved'],
    ],
    [['--node', 'n3'], ['c']],
    [['--node', 'n4'], []],
  ])('%j selects by the provisioned node, else by the spec', async (flags, names) => {
    const { code, out } = await stowage(['get', 'vol', ...flags, '-o', 'json'], {
      objects: spread,
    });
    expect(code).toBe(0);
    expect(JSON.parse(out).items.map(({ metadata }: typeof a) => metadata.name)).toEqual(names);
  });
});

describe('get volumes --sort-by', () => {
  const made = (
    name: string,
    created: string,
    node: string,
    capacity?: string,
    phase?: 'Failed',
  ) => {
    const volume = onNode(name, node);
    const status = { ...(capacity && { capacity }), ...(phase && { phase }) };
    return { ...volume, metadata: { ...volume.metadata, creationTimestamp: created }, status };
  };
  const all = {
    'volumes/d': made('d', '2029-12-02T00:00:00Z', 'n3', '9Gi'),
    'volumes/c': made('c', '2029-12-02T00:00:00Z', 'n1', 'a lot'),
    'volumes/b': made('b', '2029-12-01T00:00:00Z', 'n1', '9Gi', 'Failed'),
    'volumes/a': made('a', '2029-12-03T00:00:00Z', 'n2', '10Gi'),
  };

  test.each([
    ['name', 'abcd'],
    ['node', 'bcad'],
    ['age', 'acdb'],
    ['capacity', 'cbda'],
    ['phase', 'bacd'],
  ])('sorts by %s', async (field, order) => {
    const { out } = await stowage(['get', 'vol', '--sort-by', field, '-o', 'name'], {
      objects: all,
    });
    expect(out.match(/\w$/gm)?.join('')).toBe(order);
  });
});

describe('get volumes -w', () => {
  const versioned = (volume: typeof a, resourceVersion: string, nodeName = 'n1') => ({
    ...volume,
    metadata: { ...volume.metadata, resourceVersion },
    spec: { ...volume.spec, nodeName },
  });
  const a1 = versioned(a, '1');
  const modified = versioned(
    volumeNamed('a', { phase: 'Available', deviceName: 'loop12345' }),
    '3',
  );
  const added = versioned(data1, '4');

  const watch = (argv: string[], events: WatchEvent[][], world: World = {}) =>
    watchVolumes(['get', 'vol', '-w', ...argv], { 'volumes/a': a1 }, events, world);

  test('prints a row for each change, and a last row for a deleted Volume', async () => {
    const { code, out, err } = await watch(
      [],
      [
        [
          { type: 'ADDED', object: a1 },
          { type: 'MODIFIED', object: modified },
          { type: 'ADDED', object: added },
          { type: 'DELETED', object: modified },
        ],
      ],
    );
    expect({ code, err }).toEqual({ code: 130, err: '' });
    expect(out).toBe(
      [
        'NAME   NODE   PHASE     READY    DEVICE   CAPACITY   STORAGECLASS   AGE',
        'a      n1     Unknown   <none>   <none>   <none>     fast           5h',
        'a      n1     Available   <none>   loop12345   <none>     fast           5h',
        'data1   n1     Available   True     loop3       1Gi        fast           5h',
        'a       n1     Gone        <none>   loop12345   <none>     fast           5h',
        '',
      ].join('\n'),
    );
  });

  test('continues after a dropped connection, with a warning', async () => {
    const { code, out, err } = await watch(
      ['-o', 'name'],
      [[{ type: 'MODIFIED', object: modified }], [{ type: 'ADDED', object: added }]],
    );
    expect(code).toBe(130);
    expect(out.match(/\w+$/gm)).toEqual(['a', 'a', 'data1']);
    expect(err).toBe('warning: watch failed; restarting it: connection reset\ufffd[2J\n');
  });

  test('reports a Volume that was deleted between list and watch', async () => {
    let lists = 0;
    const vanishing = new Proxy<Record<string, typeof a>>(
      { 'volumes/a': a1 },
      { ownKeys: (target) => (lists++ === 0 ? Reflect.ownKeys(target) : []) },
    );
    expect((await watch([], [[]], { objects: vanishing })).out).toMatch(/\na +n1 +Gone /);
  });

  describe('on a terminal', () => {
    const changes: WatchEvent[][] = [
      [
        { type: 'MODIFIED', object: modified },
        { type: 'ADDED', object: added },
      ],
    ];

    test('redraws one table', async () => {
      const terminal = screen(100, 10);
      await watch([], changes, { terminal });
      expect(terminal.shown()).toEqual([
        'NAME    NODE   PHASE       READY    DEVICE      CAPACITY   STORAGECLASS   AGE',
        'a       n1     Available   <none>   loop12345   <none>     fast           5h',
        'data1   n1     Available   True     loop3       1Gi        fast           5h',
      ]);
    });

    test('keeps order and --no-headers, and shows a deleted Volume once', async () => {
      const terminal = screen(100, 10);
      const flags = ['--sort-by', 'capacity', '--no-headers'];
      const gone: WatchEvent[] = [...(changes[0] ?? []), { type: 'DELETED', object: modified }];
      await watch(flags, [gone], { terminal });
      expect(terminal.shown().map((line) => line.split(/ +/).slice(0, 3))).toEqual([
        ['a', 'n1', 'Gone'],
        ['data1', 'n1', 'Available'],
      ]);
      const later = screen(100, 10);
      const b = versioned(volumeNamed('b'), '9');
      await watch(flags, [[...gone, { type: 'ADDED', object: b }]], { terminal: later });
      expect(later.shown().map((line) => line.split(/ +/)[0])).toEqual(['b', 'data1']);
    });

    test('updates the age without events', async () => {
      const clock = new FakeClock();
      const terminal = screen(100, 10);
      const aborter = new AbortController();
      const running = stowage(['get', 'vol', '-w'], {
        objects: { 'volumes/a': a1 },
        clock,
        signal: aborter.signal,
        terminal,
      });
      await clock.advance(3_600_000);
      expect(terminal.shown().at(-1)).toMatch(/6h$/);
      aborter.abort(new SignalError('SIGINT'));
      expect(await running).toMatchObject({ code: 130 });
      expect(clock.sleeping).toEqual([]);
    });

    test('redraws the table below a warning', async () => {
      const terminal = screen(100, 20);
      await watch([], [[], changes[0] ?? []], { terminal });
      expect(terminal.shown().map((line) => line.split(/ +/)[0])).toEqual([
        'NAME',
        'a',
        'warning:',
        'NAME',
        'a',
        'data1',
      ]);
    });

    test('prints lines if the terminal is dumb', async () => {
      const terminal = screen(100, 10);
      await watch([], changes, { terminal, env: { TERM: 'dumb' } });
      expect(terminal.shown()).toHaveLength(4);
    });
  });

  test('streams documents', async () => {
    const events: WatchEvent[][] = [[{ type: 'MODIFIED', object: modified }]];
    expect((await watch(['-o', 'json'], events)).out).toBe(
      `${JSON.stringify(a1, null, 2)}\n${JSON.stringify(modified, null, 2)}\n`,
    );
    const documents = parseAllDocuments((await watch(['-o', 'yaml'], events)).out);
    expect(documents.map((document) => document.toJSON())).toEqual([a1, modified]);
  });

  test('prints headings with the first row if there are no Volumes yet', async () => {
    const { out } = await watch([], [[{ type: 'ADDED', object: added }]], { objects: {} });
    expect(out).toMatch(/^NAME .*\ndata1 .*\n$/);
  });

  test('prints changes of the selected names or nodes only', async () => {
    const other = versioned(data1, '4', 'n2');
    const events: WatchEvent[][] = [
      [
        { type: 'MODIFIED', object: modified },
        { type: 'ADDED', object: other },
      ],
    ];
    const objects = { 'volumes/a': a1, 'volumes/b': versioned(volumeNamed('b'), '2') };
    expect(
      (await watch(['a', 'b', '-o', 'name'], events, { objects })).out.match(/\w+$/gm),
    ).toEqual(['a', 'b', 'a']);
    expect((await watch(['--node', 'n2', '-o', 'name'], events)).out.match(/\w+$/gm)).toEqual([
      'data1',
    ]);
  });

  test('exits with 4 if watching is forbidden', async () => {
    const { code, out, err } = await stowage(['get', 'vol', '-w', '-o', 'name'], {
      objects: { 'volumes/a': a1 },
      events: () => {
        throw refusal(403, 'volumes is forbidden: User "me" cannot watch');
      },
    });
    expect({ code, out }).toEqual({ code: 4, out: 'volume.storage.metalk8s.scality.com/a\n' });
    expect(err).toMatch(/^error: volumes is forbidden: User "me" cannot watch\nhint: .*\n$/);
  });

  test('exits with 3 for a missing name', async () => {
    expect(await stowage(['get', 'vol', '-w', 'x'])).toMatchObject({ code: 3, out: '' });
  });
});

test.each([[[]], [['-o', 'wide']], [['-o', 'name']], [['-o', 'json']], [['-o', 'yaml']]])(
  'get volumes prints no control characters, with %j',
  async (flags) => {
    const evil = '\u001b]0;owned\u0007\u009b2J';
    const volume = volumeNamed('a', {
      deviceName: evil,
      devicePath: evil,
      job: evil,
      capacity: evil,
      ...ready('False', evil, evil),
    });
    const metadata = { ...volume.metadata, name: `a${evil}` };
    const { code, out } = await stowage(['get', 'vol', ...flags], {
      objects: { 'volumes/a': { ...volume, metadata } },
    });
    expect(code).toBe(0);
    expect(out).toMatch(/owned/);
    expectPrintable(out);
  },
);
