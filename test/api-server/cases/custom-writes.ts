import { DISKS, disk, MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const create = (object: object, query = ''): Step => ['POST', `${DISKS}${query}`, object];
const merge = (patch: object, path = `${DISKS}/a`): Step => ['PATCH', path, patch, MERGE];
const read: Step = ['GET', `${DISKS}/a`];

/** Returns an update of the object in the first response, with changes. */
const update =
  (change: object, metadata: object = {}, path = `${DISKS}/a`): Step =>
  ([first]) => [
    'PUT',
    path,
    { ...first?.body, ...change, metadata: { ...first?.body.metadata, ...metadata } },
  ];

export const customWrites = recorded('custom-writes', [DISKS], {
  'create, and read': [create(disk('a')), read],
  'create with all metadata': [
    create(
      disk('a', {
        uid: 'mine',
        generation: 7,
        creationTimestamp: '2020-01-01T00:00:00Z',
        deletionTimestamp: '2020-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        selfLink: '/x',
        labels: { a: 'b' },
        annotations: { 'example.com/a': 'b' },
        finalizers: ['example.com/f'],
        managedFields: [],
      }),
    ),
  ],
  'create with empty metadata': [
    create(disk('a', { labels: {}, annotations: null, finalizers: [] })),
  ],
  'create with a status': [create({ ...disk('a'), status: { phase: 'Ready' } })],
  'create what exists': [create(disk('a')), create(disk('a'))],
  'create with a generated name': [create(disk('', { name: undefined, generateName: 'x-' }))],
  'create with a name and one to generate': [create(disk('a', { generateName: 'x-' }))],
  'create without a name': [create(disk('', { name: undefined }))],
  'create with a resourceVersion': [create(disk('a', { resourceVersion: '5' }))],
  'create in a namespace': [create(disk('a', { namespace: 'default' }))],
  'create another kind': [create({ ...disk('a'), kind: 'Tape' })],
  'create another group': [create({ ...disk('a'), apiVersion: 'other.com/v1' })],
  'create without kind and version': [create({ metadata: { name: 'a' }, spec: { nodeName: 'n' } })],
  'create on trial': [create(disk('a'), '?dryRun=All'), read],
  'create on an odd trial': [create(disk('a'), '?dryRun=Some')],
  'create with an unknown field': [create(disk('a', {}, { nodeName: 'n', foo: 1, bar: { b: 1 } }))],
  'create with an unknown field, ignored': [
    create(disk('a', {}, { nodeName: 'n', foo: 1 }), '?fieldValidation=Ignore'),
  ],
  'create with an unknown field, strictly': [
    create(
      { ...disk('a', { huh: 1 }, { nodeName: 'n', foo: 1 }), top: 1 },
      '?fieldValidation=Strict',
    ),
  ],
  'create with an odd validation': [create(disk('a'), '?fieldValidation=Maybe')],
  ...Object.fromEntries(
    ['Big', 'a_b', '-a', 'a/b', 'a'.repeat(254)].map((name) => [
      `create with the name ${name.slice(0, 9)}`,
      [create(disk(name))],
    ]),
  ),
  'create with bad labels': [
    create(disk('a', { labels: { 'a b': 'c' } })),
    create(disk('a', { labels: { 'a/b/c': 'd' } })),
    create(disk('a', { labels: { '/x': 'd' } })),
    create(disk('a', { labels: { k: 'x y' } })),
    create(disk('a', { labels: { k: 'x'.repeat(64) } })),
  ],
  'create with bad annotations': [create(disk('a', { annotations: { 'a b': 'c' } }))],
  'create with bad finalizers': [create(disk('a', { finalizers: ['a b'] }))],
  'create with a finalizer without domain': [create(disk('a', { finalizers: ['plain'] }))],
  'create with half an owner': [
    create(disk('a', { ownerReferences: [{ kind: 'Disk', name: 'x' }] })),
  ],
  'create with two controllers': [
    create(
      disk('a', {
        ownerReferences: ['x', 'y'].map((name) => ({
          apiVersion: 'example.com/v1',
          kind: 'Disk',
          name,
          uid: name,
          controller: true,
        })),
      }),
    ),
  ],
  'create with labels that are none': [create(disk('a', { labels: { a: 1 } }))],
  'create with metadata that is none': [create({ ...disk('a'), metadata: 'a' })],
  'create without metadata': [
    create({ apiVersion: 'example.com/v1', kind: 'Disk', spec: { nodeName: 'n' } }),
  ],

  'update the spec': [create(disk('a')), update({ spec: { nodeName: 'n1', mode: 'Block' } })],
  'update nothing': [create(disk('a')), update({}), read],
  'update an old version': [
    create(disk('a')),
    merge({ metadata: { labels: { a: 'b' } } }),
    update({ spec: { nodeName: 'n1', mode: 'Block' } }),
  ],
  'update without a version': [create(disk('a')), update({}, { resourceVersion: undefined })],
  'update with version 0': [create(disk('a')), update({}, { resourceVersion: '0' })],
  'update another uid': [create(disk('a')), update({}, { uid: 'other' })],
  'update without a uid': [create(disk('a')), update({}, { uid: undefined, labels: { a: 'b' } })],
  'update another name': [create(disk('a')), update({}, { name: 'b' })],
  'update without a name': [create(disk('a')), update({}, { name: undefined })],
  'update what is not there': [['PUT', `${DISKS}/a`, disk('a', { resourceVersion: '1' })]],
  'update what is not there, without a version': [['PUT', `${DISKS}/a`, disk('a')]],
  'update what the server owns': [
    create(disk('a')),
    update({}, { generation: 9, creationTimestamp: '2020-01-01T00:00:00Z', labels: { a: 'b' } }),
  ],
  'update a spec to what is invalid': [create(disk('a')), update({ spec: { nodeName: 'n2' } })],
  'update on trial': [
    create(disk('a')),
    update({ spec: { nodeName: 'n1', mode: 'Block' } }, {}, `${DISKS}/a?dryRun=All`),
    read,
  ],
  'update a status beside the spec': [create(disk('a')), update({ status: { phase: 'Ready' } })],

  'status by update': [
    create(disk('a')),
    update({ status: { phase: 'Ready' }, spec: {} }, { labels: { a: 'b' } }, `${DISKS}/a/status`),
    ['GET', `${DISKS}/a/status`],
  ],
  'status by patch': [
    create(disk('a')),
    merge({ status: { phase: 'Ready' } }, `${DISKS}/a/status`),
  ],
  'status with unknown fields': [
    create(disk('a')),
    merge({ status: { phase: 'Ready', foo: 1 } }, `${DISKS}/a/status`),
  ],
  'status of a wrong type': [
    create(disk('a')),
    merge({ status: { phase: 5 } }, `${DISKS}/a/status`),
  ],
  'status removed': [
    create(disk('a')),
    merge({ status: { phase: 'Ready' } }, `${DISKS}/a/status`),
    merge({ status: null }, `${DISKS}/a/status`),
  ],
  'status deleted': [create(disk('a')), ['DELETE', `${DISKS}/a/status`]],
  'status of what is not there': [merge({ status: {} }, `${DISKS}/a/status`)],
  'status of an old version': [
    create(disk('a')),
    merge({ metadata: { labels: { a: 'b' } } }),
    update({ status: { phase: 'Ready' } }, {}, `${DISKS}/a/status`),
  ],

  'finalizers added and removed': [
    create(disk('a')),
    merge({ metadata: { finalizers: ['example.com/f'] } }),
    merge({ metadata: { finalizers: null } }),
  ],
  'owner added': [
    create(disk('a', { finalizers: ['example.com/f'] })),
    ([first]) => [
      'PATCH',
      `${DISKS}/a`,
      {
        metadata: {
          ownerReferences: [
            {
              apiVersion: 'example.com/v1',
              kind: 'Disk',
              name: 'a',
              uid: first?.body.metadata.uid,
            },
          ],
        },
      },
      MERGE,
    ],
  ],
});
