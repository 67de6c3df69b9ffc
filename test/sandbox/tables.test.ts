import { describe, expect, test } from '@jest/globals';
import type { Kind, StoredObject } from '../../src/sandbox/kind.ts';
import { customColumns } from '../../src/sandbox/tables/custom.ts';
import { parseJsonPath } from '../../src/sandbox/tables/json-path.ts';
import { tableOf } from '../../src/sandbox/tables/table.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

/** Returns the cells of one object, by column name. */
function row(kind: string, object: object) {
  const whole = { metadata: { name: 'x', creationTimestamp: ago(300) }, ...object } as StoredObject;
  const table = tableOf({ kind } as Kind, [whole], { resourceVersion: '1' }, 'None', NOW);
  return Object.fromEntries(
    table.columnDefinitions.map(({ name }, i) => [name, table.rows[0]?.cells[i]]),
  );
}

describe('a pod', () => {
  const running = { running: {} };
  const spec = { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] };
  const metadata = { name: 'p', deletionTimestamp: ago(1) };
  test.each<[string, object, object]>([
    ['without status', { spec }, { Ready: '0/2', Status: undefined, Restarts: '0' }],
    ['pending', { spec, status: { phase: 'Pending' } }, { Ready: '0/2', Status: 'Pending' }],
    [
      'running',
      {
        spec,
        status: {
          phase: 'Running',
          containerStatuses: [{ ready: true, state: running, restartCount: 0 }],
        },
      },
      { Ready: '1/2', Status: 'Running', Restarts: '0' },
    ],
    [
      'restarting',
      {
        spec,
        status: {
          phase: 'Running',
          containerStatuses: [
            {
              restartCount: 3,
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              lastState: { terminated: { finishedAt: ago(60) } },
            },
          ],
        },
      },
      { Status: 'CrashLoopBackOff', Restarts: '3 (60s ago)' },
    ],
    [
      'initializing',
      { spec, status: { phase: 'Pending', initContainerStatuses: [{ state: running }] } },
      { Status: 'Init:0/1' },
    ],
    [
      'with a failed initialization',
      { spec, status: { initContainerStatuses: [{ state: { terminated: { exitCode: 2 } } }] } },
      { Status: 'Init:ExitCode:2' },
    ],
    [
      'completed',
      {
        spec,
        status: {
          initContainerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
          containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }],
        },
      },
      { Status: 'Completed' },
    ],
    [
      'being terminated',
      { metadata, spec, status: { phase: 'Running' } },
      { Status: 'Terminating' },
    ],
    [
      'with gates',
      {
        spec: { ...spec, nodeName: 'n1', readinessGates: [{ conditionType: 'g' }] },
        status: { podIP: '10.0.0.1', conditions: [{ type: 'g', status: 'True' }] },
      },
      { IP: '10.0.0.1', Node: 'n1', 'Nominated Node': '<none>', 'Readiness Gates': '1/1' },
    ],
  ])('%s', (_, object, cells) => expect(row('Pod', object)).toMatchObject(cells));
});

test.each<[string, object, object]>([
  ['Namespace', { status: { phase: 'Active' } }, { Name: 'x', Status: 'Active', Age: '5m' }],
  [
    'Node',
    {
      metadata: {
        name: 'n',
        labels: { 'node-role.kubernetes.io/b': '', 'kubernetes.io/role': 'a' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kubeletVersion: 'v1.32.0' },
      },
    },
    {
      Status: 'NotReady,SchedulingDisabled',
      Roles: 'a,b',
      Age: '<unknown>',
      Version: 'v1.32.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
    },
  ],
  [
    'PersistentVolume',
    {
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany', 'ReadOnlyMany'] },
      status: {},
    },
    { Capacity: '1Gi', 'Access Modes': 'ROX,RWX', Claim: '', VolumeMode: '<unset>' },
  ],
  [
    'PersistentVolumeClaim',
    { metadata: { name: 'c', deletionTimestamp: ago(1) }, spec: {}, status: { phase: 'Bound' } },
    { Status: 'Terminating', Volume: '', Capacity: '', 'Access Modes': '' },
  ],
  [
    'StorageClass',
    {
      metadata: {
        name: 's',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'p',
    },
    { Name: 's (default)', Provisioner: 'p', AllowVolumeExpansion: false },
  ],
  [
    'Event',
    {
      involvedObject: { kind: 'Volume', name: 'v' },
      firstTimestamp: ago(60),
      lastTimestamp: ago(10),
      message: ' m\n',
      source: { component: 's' },
    },
    {
      'Last Seen': '10s',
      Object: 'volume/v',
      Message: 'm',
      'First Seen': '60s',
      Count: 1,
      Source: 's',
      Name: 'x',
    },
  ],
  [
    'Event',
    {
      involvedObject: {},
      eventTime: ago(30),
      series: { count: 4, lastObservedTime: ago(5) },
      reportingComponent: 'r',
    },
    { 'Last Seen': '5s', 'First Seen': '30s', Count: 4, Source: 'r' },
  ],
  ['Lease', { spec: { holderIdentity: 'me' } }, { Holder: 'me' }],
  ['ConfigMap', { data: { a: '' }, binaryData: { b: '' } }, { Data: 2 }],
  [
    'RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        { kind: 'User', name: 'u' },
      ],
    },
    { Role: 'Role/r', Users: 'u', Groups: '', ServiceAccounts: 'n/s' },
  ],
  ['ClusterRole', {}, { 'Created At': ago(300) }],
])('%s', (kind, object, cells) => expect(row(kind, object)).toMatchObject(cells));

describe('JSONPath', () => {
  const object = {
    spec: {
      size: 5,
      'a.b': 'dotted',
      list: [{ type: 'x', m: 1 }, { type: 'Ready', m: 2 }, { m: 3 }],
    },
  };
  test.each<[string, unknown[]]>([
    ['.spec.size', [5]],
    ['.spec.none.of.these', []],
    ['.toString', []],
    [".spec['a.b']", ['dotted']],
    ['.spec.a\\.b', ['dotted']],
    ['.spec.list[1].m', [2]],
    ['.spec.list[-1].m', [3]],
    ['.spec.list[*].m', [1, 2, 3]],
    ['.spec.list[?(@.type=="Ready")].m', [2]],
    [".spec.list[?(@.type != 'Ready')].m", [1]],
    ['.spec.list[?(@.m==3)].m', [3]],
  ])('%s', (path, found) => expect(parseJsonPath(path)(object)).toEqual(found));

  test.each(['spec', '.spec[', '.spec..size', '.list[1:2]', '.list[?(@.a > 1)]', '.{a}', ''])(
    'refuses %j',
    (path) => expect(() => parseJsonPath(path)).toThrow(),
  );
});

test('columns of custom resources show values by their type', () => {
  const cells = (type: string, value: unknown) =>
    customColumns([{ name: 'c', type: type as 'string', jsonPath: '.v' }])[0]?.cell(
      { v: value } as never,
      NOW,
    );
  expect(
    [
      ['string', 'x'],
      ['string', { a: 1 }],
      ['string', true],
      ['string', null],
      ['integer', 5.5],
      ['integer', '5'],
      ['number', 5.5],
      ['boolean', false],
      ['boolean', 'no'],
      ['date', ago(60)],
      ['date', 'never'],
    ].map(([type, value]) => cells(String(type), value)),
  ).toEqual(['x', '{"a":1}', 'true', null, 5, null, 5.5, false, null, '60s', '<invalid>']);
  expect(() => cells('object', {})).toThrow('none of');
  expect(customColumns(undefined).map(({ name }) => name)).toEqual(['Age']);
});
