import { describe, expect, test } from '@jest/globals';
import { lineSplitter } from '../../src/ui/lines.ts';
import type {
  ClaimRow,
  NodeRow,
  SnapshotRow,
  SourceState,
  VolumeRow,
} from '../../src/ui/protocol.ts';
import { linkOf, screenOf, tokenIn, volumeLink, volumesLink } from '../../src/ui/routes.ts';
import { createStore } from '../../src/ui/store.ts';
import {
  attachmentsOf,
  byNode,
  byPhase,
  knowledgeOf,
  snapshotsOf,
  withVolumes,
} from '../../src/ui/summary.ts';

const volume = (name: string, node: string, phase: string, bytes = 1) =>
  ({ name, node, phase, bytes }) as VolumeRow;

describe('a fragment', () => {
  test.each([
    ['', { screen: 'overview' }],
    ['#/', { screen: 'overview' }],
    ['#/volumes', { screen: 'volumes', phase: '', node: '' }],
    ['#/volumes?phase=Failed&node=n1', { screen: 'volumes', phase: 'Failed', node: 'n1' }],
    ['#/volumes?node=%', { screen: 'volumes', phase: '', node: '' }],
    ['#/volumes/data1', { screen: 'volume', name: 'data1' }],
    ['#/volumes/%3Cb%3E', { screen: 'volume', name: '<b>' }],
    ['#/volumes/a/b', { screen: 'unknown' }],
    ['#/nodes', { screen: 'nodes' }],
    ['#/claims', { screen: 'claims' }],
    ['#/snapshots', { screen: 'snapshots' }],
    ['#/populators', { screen: 'populators' }],
    ['#/attachments', { screen: 'attachments' }],
    ['#/nodes/n1.example', { screen: 'node', name: 'n1.example' }],
    ['#/claims/db/data-0', { screen: 'claim', name: 'db/data-0' }],
    ['#/snapshots/db/nightly', { screen: 'snapshot', name: 'db/nightly' }],
    // Names that no object has are not asked for.
    ['#/nodes/', { screen: 'unknown' }],
    ['#/nodes/N1', { screen: 'unknown' }],
    ['#/nodes/n1/check', { screen: 'unknown' }],
    ['#/nodes/-o', { screen: 'unknown' }],
    ['#/claims/data-0', { screen: 'unknown' }],
    ['#/claims/db/data-0/x', { screen: 'unknown' }],
    ['#/claims/../data-0', { screen: 'unknown' }],
    ['#/claims/db/%3Cb%3E', { screen: 'unknown' }],
    ['#/snapshots/db/', { screen: 'unknown' }],
    ['#/populators/x', { screen: 'unknown' }],
    ['#/x', { screen: 'unknown' }],
  ])('%j is a screen', (hash, screen) => {
    expect(screenOf(hash)).toEqual(screen);
  });

  test('leads back to its screen', () => {
    expect(screenOf(volumeLink('a b/?&#'))).toEqual({ screen: 'volume', name: 'a b/?&#' });
    const filters = { phase: 'a&b', node: 'c=d' };
    expect(screenOf(volumesLink(filters))).toEqual({ screen: 'volumes', ...filters });
    expect(volumesLink({ phase: '', node: '' })).toBe('#/volumes');
  });

  test.each([
    ['Volume', 'data1', { screen: 'volume', name: 'data1' }],
    ['Node', 'n1', { screen: 'node', name: 'n1' }],
    ['PersistentVolumeClaim', 'db/data-0', { screen: 'claim', name: 'db/data-0' }],
    ['VolumeSnapshot', 'db/nightly', { screen: 'snapshot', name: 'db/nightly' }],
    ['Pod', 'db/db-0', undefined],
  ])('the link of a %s %s leads to its screen', (kind, name, screen) => {
    const link = linkOf(kind, name);
    expect(link && screenOf(link)).toEqual(screen);
  });

  test.each([
    ['#token=abc-_1', 'abc-_1'],
    ['#token=', undefined],
    ['#token=a&b', undefined],
    ['#/token=a', undefined],
  ])('%j has the token %j', (hash, token) => {
    expect(tokenIn(hash)).toBe(token);
  });
});

test('lines are put together from parts of a stream', () => {
  const split = lineSplitter();
  expect(split('{"a"')).toEqual([]);
  expect(split(':1}\n{"b":2}\n\n{')).toEqual(['{"a":1}', '{"b":2}']);
  expect(split('}\n')).toEqual(['{}']);
  expect(() => split('x'.repeat((16 << 20) + 1))).toThrow('no end');
});

describe('the store', () => {
  test('replaces rows, drops gone ones, and forgets all at a start', () => {
    const store = createStore(() => {});
    const { state } = store;
    const first = volume('a', 'n1', 'Pending');
    store.take([
      { type: 'start', server: 's', version: '1' },
      { type: 'rows', kind: 'volumes', rows: [first, volume('b', 'n1', 'Pending')] },
      { type: 'rows', kind: 'nodes', rows: [{ name: 'n1' } as NodeRow] },
      { type: 'rows', kind: 'claims', rows: [{ name: 'db/a' } as ClaimRow] },
      { type: 'rows', kind: 'snapshots', rows: [{ name: 'db/s' } as SnapshotRow] },
      { type: 'source', kind: 'volumes', state: 'listed' },
      { type: 'connection', connected: true, since: 't' },
    ]);
    expect([[...state.claims.keys()], [...state.snapshots.keys()]]).toEqual([['db/a'], ['db/s']]);
    store.take([
      { type: 'rows', kind: 'volumes', rows: [volume('a', 'n1', 'Failed')] },
      { type: 'gone', kind: 'volumes', names: ['b'] },
    ]);
    expect([...state.volumes.values()]).toEqual([volume('a', 'n1', 'Failed')]);
    expect(first.phase).toBe('Pending');
    expect(state.sources.get('volumes')).toEqual({ state: 'listed' });
    expect(state.connection).toEqual({ connected: true, since: 't' });
    store.take([{ type: 'start', server: 's2', version: '1' }]);
    const { volumes, nodes, claims, snapshots, sources } = state;
    expect([volumes, nodes, claims, snapshots, sources].map(({ size }) => size)).toEqual([
      ...[0, 0, 0, 0, 0],
    ]);
    expect(state.server).toBe('s2');
  });

  test('reports several changes once', () => {
    const scheduled: (() => void)[] = [];
    const store = createStore((report) => scheduled.push(report));
    let reports = 0;
    const end = store.subscribe(() => {
      reports += 1;
    });
    store.take([]);
    expect(scheduled).toHaveLength(0);
    store.take([{ type: 'gone', kind: 'nodes', names: [] }]);
    store.setLink('open');
    store.setLink('open');
    expect(scheduled).toHaveLength(1);
    scheduled.pop()?.();
    expect(reports).toBe(1);
    store.setLink('lost');
    end();
    scheduled.pop()?.();
    expect(reports).toBe(1);
  });
});

test('Volumes are counted by phase, known phases first', () => {
  const rows = [volume('a', '', 'Failed'), volume('b', '', 'Odd'), volume('c', '', 'Failed')];
  expect(byPhase(rows)).toEqual([
    { phase: 'Available', count: 0 },
    { phase: 'Pending', count: 0 },
    { phase: 'Failed', count: 2 },
    { phase: 'Terminating', count: 0 },
    { phase: 'Unknown', count: 0 },
    { phase: 'Odd', count: 1 },
  ]);
});

test('nodes are those of the cluster, and those that Volumes name', () => {
  const n2 = { name: 'n2' } as NodeRow;
  const rows = [
    volume('a', 'n1', 'Failed', 2),
    volume('b', 'n1', 'Available', 3),
    volume('c', '', 'Failed'),
  ];
  expect(byNode(rows, [n2])).toEqual([
    { name: 'n1', node: undefined, total: 2, failed: 1, bytes: 5 },
    { name: 'n2', node: n2, total: 0, failed: 0, bytes: 0 },
  ]);
});

test('attachments are those of all Volumes', () => {
  const attachment = { node: 'n1', state: 'Attached' };
  const rows = [
    { name: 'a', attachments: [attachment, { ...attachment, node: 'n2' }] },
    { name: 'b', attachments: [] },
  ] as unknown as VolumeRow[];
  expect(attachmentsOf(rows)).toEqual([
    { ...attachment, volume: 'a', name: 'a/n1' },
    { ...attachment, node: 'n2', volume: 'a', name: 'a/n2' },
  ]);
});

test('snapshots have the Volume of their claim, and are found by their claim', () => {
  const snapshot = (name: string, claim: string, created: string) =>
    ({ name, claim, created }) as SnapshotRow;
  const rows = [
    snapshot('db/old', 'db/data', '2030-01-01T00:00:00Z'),
    snapshot('db/new', 'db/data', '2030-01-02T00:00:00Z'),
    snapshot('web/other', 'web/data', '2030-01-02T00:00:00Z'),
    snapshot('web/none', '', ''),
  ];
  const claims = new Map([['db/data', { name: 'db/data', volume: 'data1' } as ClaimRow]]);
  expect(withVolumes(rows, claims).map(({ volume }) => volume)).toEqual([
    ...['data1', 'data1', '', ''],
  ]);
  expect(snapshotsOf(rows, 'db/data').map(({ name }) => name)).toEqual(['db/new', 'db/old']);
});

test.each<[string | undefined, boolean | undefined, number, boolean, boolean]>([
  // State, whether the API server answers, known objects; unknown, and whether to explain it.
  [undefined, undefined, 0, true, false],
  ['loading', true, 0, true, false],
  ['loading', true, 5, true, false],
  ['listed', true, 0, false, false],
  ['listed', false, 5, false, false],
  ['refused', true, 0, false, true],
  ['refused', false, 0, false, true],
  ['failed', true, 0, true, true],
  ['failed', true, 5, false, true],
  ['failed', false, 0, true, false],
  ['failed', false, 5, false, false],
])(
  'a kind that is %j, connected %j, with %d objects, is unknown: %j, a problem: %j',
  (state, connected, count, unknown, isProblem) => {
    const source = state === undefined ? undefined : { state: state as SourceState['state'] };
    const connection = connected === undefined ? undefined : { connected, since: 't' };
    expect(knowledgeOf(source, connection, count)).toEqual({
      unknown,
      problem: isProblem ? source : undefined,
    });
  },
);
