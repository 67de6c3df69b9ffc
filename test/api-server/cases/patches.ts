import { DISKS, disk, MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const CONFIGS = '/api/v1/namespaces/default/configmaps';
const NODES = '/api/v1/nodes';
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };

const onDisk = (patch: unknown, headers: Record<string, string>, query = ''): Step[] => [
  ['POST', DISKS, disk('a', { labels: { k: 'v', l: 'w' } })],
  ['PATCH', `${DISKS}/a${query}`, patch, headers],
];
const onNode = (patch: unknown, headers = STRATEGIC): Step[] => [
  [
    'POST',
    NODES,
    {
      metadata: { name: 'patched', labels: { k: 'v', l: 'w' } },
      spec: { taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDR: '10.0.0.0/24' },
    },
  ],
  ['PATCH', `${NODES}/patched`, patch, headers],
];

const LEFT = [
  DISKS,
  `${CONFIGS}?labelSelector=patched`,
  `${NODES}?fieldSelector=metadata.name%3Dpatched`,
];

export const patches = recorded('patches', LEFT, {
  'merge: labels and spec': onDisk(
    { metadata: { labels: { k: null, m: 'x' } }, spec: { mode: 'Block' } },
    MERGE,
  ),
  'merge: nothing': onDisk({}, MERGE),
  'merge: unknown fields': onDisk({ spec: { foo: 1 } }, MERGE),
  'merge: what is invalid': onDisk({ spec: { nodeName: null } }, MERGE),
  'merge: of a wrong type': onDisk({ spec: 'x' }, MERGE),
  'merge: another name': onDisk({ metadata: { name: 'b' } }, MERGE),
  'merge: an old version': onDisk({ metadata: { resourceVersion: '1' } }, MERGE),
  'merge: another kind': onDisk({ kind: 'Tape' }, MERGE),
  'merge: a list': onDisk([], MERGE),
  'merge: no object': onDisk('x', MERGE),
  'merge: on trial': [
    ...onDisk({ spec: { mode: 'Block' } }, MERGE, '?dryRun=All'),
    ['GET', `${DISKS}/a`],
  ],
  'merge: what is not there': [['PATCH', `${DISKS}/a`, {}, MERGE]],
  'json: add, replace, remove, test, move and copy': onDisk(
    [
      { op: 'test', path: '/spec/nodeName', value: 'n1' },
      { op: 'replace', path: '/spec/mode', value: 'Block' },
      { op: 'remove', path: '/metadata/labels/k' },
      { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
      { op: 'copy', from: '/metadata/labels/l', path: '/metadata/annotations/c' },
      { op: 'move', from: '/metadata/labels/l', path: '/metadata/labels/n' },
    ],
    JSON_PATCH,
  ),
  'json: a test that fails': onDisk(
    [{ op: 'test', path: '/spec/nodeName', value: 'n2' }],
    JSON_PATCH,
  ),
  'json: removing what is not there': onDisk([{ op: 'remove', path: '/spec/foo' }], JSON_PATCH),
  'json: replacing what is not there': onDisk(
    [{ op: 'replace', path: '/spec/foo', value: 1 }],
    JSON_PATCH,
  ),
  'json: below what is not there': onDisk(
    [{ op: 'add', path: '/status/phase', value: 'x' }],
    JSON_PATCH,
  ),
  'json: an unknown operation': onDisk([{ op: 'burn', path: '/spec' }], JSON_PATCH),
  'json: an object': onDisk({ spec: {} }, JSON_PATCH),
  'json: nothing': onDisk([], JSON_PATCH),
  'json: an unknown field': onDisk([{ op: 'add', path: '/spec/foo', value: 1 }], JSON_PATCH),
  'strategic: of a custom resource': onDisk({}, STRATEGIC),
  'unknown type': onDisk({}, { 'content-type': 'text/plain' }),
  'plain JSON': onDisk({}, { 'content-type': 'application/json' }),
  'strategic: adds and removes labels': onNode({ metadata: { labels: { k: null, m: 'x' } } }),
  'strategic: replaces and removes fields': onNode({ spec: { unschedulable: true } }),
  'strategic: a ConfigMap': [
    [
      'POST',
      CONFIGS,
      { metadata: { name: 'c', labels: { patched: '' } }, data: { a: 'b', c: 'd' } },
    ],
    ['PATCH', `${CONFIGS}/c`, { data: { a: null, e: 'f' } }, STRATEGIC],
    ['PATCH', `${CONFIGS}/c`, { data: { $patch: 'replace', g: 'h' } }, STRATEGIC],
    ['PATCH', `${CONFIGS}/c`, { huh: 'x' }, STRATEGIC],
  ],
});
