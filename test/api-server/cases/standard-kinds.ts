import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const SNAPSHOTS = '/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots';
const CONTENTS = '/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents';
const CLASSES = '/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses';
const LINKS = '/apis/snapshot.storage.k8s.io/v1alpha1/namespaces/default/volumesnapshotlinks';
const grants = (version: string) =>
  `/apis/gateway.networking.k8s.io/${version}/namespaces/default/referencegrants`;
const POPULATORS = '/apis/populator.storage.k8s.io/v1beta1/volumepopulators';

const of = (apiVersion: string, kind: string) => (fields: object) => ({
  apiVersion,
  kind,
  metadata: { name: 'a' },
  ...fields,
});
const snapshot = (spec: object) => of('snapshot.storage.k8s.io/v1', 'VolumeSnapshot')({ spec });
const content = (spec: object) =>
  of(
    'snapshot.storage.k8s.io/v1',
    'VolumeSnapshotContent',
  )({
    spec: {
      deletionPolicy: 'Delete',
      driver: 'd',
      source: { volumeHandle: 'h' },
      volumeSnapshotRef: { namespace: 'n', name: 's' },
      ...spec,
    },
  });
const snapshotClass = of('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass');
const link = (source: object) =>
  of('snapshot.storage.k8s.io/v1alpha1', 'VolumeSnapshotLink')({ spec: { source } });
const from = { group: '', kind: 'PersistentVolumeClaim', namespace: 'test' };
const to = { group: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
const grant = (version: string, spec: object = {}) =>
  of(
    `gateway.networking.k8s.io/${version}`,
    'ReferenceGrant',
  )({ spec: { from: [from], to: [to], ...spec } });
const populator = of('populator.storage.k8s.io/v1beta1', 'VolumePopulator');

const ofClaim = { source: { persistentVolumeClaimName: 'c' } };
const made: [string, string, object][] = [
  ['snapshot of a claim', SNAPSHOTS, snapshot({ ...ofClaim, volumeSnapshotClassName: 'x' })],
  ['snapshot of a content', SNAPSHOTS, snapshot({ source: { volumeSnapshotContentName: 'c' } })],
  ['snapshot of no source', SNAPSHOTS, snapshot({})],
  ['snapshot of an empty source', SNAPSHOTS, snapshot({ source: {} })],
  [
    'snapshot of two',
    SNAPSHOTS,
    snapshot({ source: { ...ofClaim.source, volumeSnapshotContentName: 'c' } }),
  ],
  ['snapshot of an empty class', SNAPSHOTS, snapshot({ ...ofClaim, volumeSnapshotClassName: '' })],
  ['snapshot of unknown fields', SNAPSHOTS, snapshot({ ...ofClaim, huh: 1 })],
  ['content of a volume', CONTENTS, content({ sourceVolumeMode: 'Filesystem' })],
  ['content of a snapshot', CONTENTS, content({ source: { snapshotHandle: 'h' } })],
  ['content of two', CONTENTS, content({ source: { volumeHandle: 'h', snapshotHandle: 'h' } })],
  [
    'content of nothing',
    CONTENTS,
    of('snapshot.storage.k8s.io/v1', 'VolumeSnapshotContent')({ spec: {} }),
  ],
  ['content of an odd policy', CONTENTS, content({ deletionPolicy: 'Burn' })],
  ['content of half a snapshot', CONTENTS, content({ volumeSnapshotRef: { name: 's' } })],
  [
    'class',
    CLASSES,
    snapshotClass({ driver: 'd', deletionPolicy: 'Delete', parameters: { a: 'b' } }),
  ],
  ['class of no driver', CLASSES, snapshotClass({ deletionPolicy: 'Delete' })],
  ['class of an odd policy', CLASSES, snapshotClass({ driver: 'd', deletionPolicy: 'Burn' })],
  ['link', LINKS, link({ namespace: 'prod', name: 's' })],
  ['link in its own namespace', LINKS, link({ name: 's' })],
  ['link to nothing', LINKS, link({ namespace: 'prod' })],
  ['link to an empty name', LINKS, link({ name: '' })],
  ['grant', grants('v1'), grant('v1')],
  ['grant of all', grants('v1beta1'), grant('v1beta1', { to: [{ group: '', kind: 'Secret' }] })],
  ['grant to nobody', grants('v1'), grant('v1', { from: [] })],
  [
    'grant of groups with versions',
    grants('v1'),
    grant('v1', { to: [{ ...to, group: 'a.b/v1' }] }),
  ],
  ['grant without a group', grants('v1'), grant('v1', { from: [{ kind: 'Pod', namespace: 'n' }] })],
  ['grant of an empty name', grants('v1'), grant('v1', { to: [{ ...to, name: '' }] })],
  [
    'grant to an odd namespace',
    grants('v1'),
    grant('v1', { from: [{ ...from, namespace: 'A.b' }] }),
  ],
  ['populator', POPULATORS, populator({ sourceKind: { group: 'example.com', kind: 'Disk' } })],
  ['populator of no kind', POPULATORS, populator({ sourceKind: { group: 'example.com' } })],
  [
    'populator with a spec',
    POPULATORS,
    populator({ spec: { sourceKind: { group: 'a', kind: 'B' } } }),
  ],
];

const changed: [string, string, object, object, string?][] = [
  ['class of a snapshot', SNAPSHOTS, snapshot(ofClaim), { spec: { volumeSnapshotClassName: 'x' } }],
  [
    'claim of a snapshot',
    SNAPSHOTS,
    snapshot(ofClaim),
    { spec: { source: { persistentVolumeClaimName: 'd' } } },
  ],
  [
    'source of a snapshot',
    SNAPSHOTS,
    snapshot(ofClaim),
    { spec: { source: { persistentVolumeClaimName: null, volumeSnapshotContentName: 'c' } } },
  ],
  [
    'status of a snapshot',
    SNAPSHOTS,
    snapshot(ofClaim),
    { status: { readyToUse: true, restoreSize: '10Gi', creationTime: '2026-01-02T03:04:05Z' } },
    '/status',
  ],
  [
    'status of a snapshot of an odd size',
    SNAPSHOTS,
    snapshot(ofClaim),
    { status: { restoreSize: 'much' } },
    '/status',
  ],
  ['handle of a content', CONTENTS, content({}), { spec: { source: { volumeHandle: 'other' } } }],
  ['mode of a content', CONTENTS, content({}), { spec: { sourceVolumeMode: 'Block' } }],
  [
    'mode of a content taken away',
    CONTENTS,
    content({ sourceVolumeMode: 'Block' }),
    { spec: { sourceVolumeMode: null } },
  ],
  ['policy of a content', CONTENTS, content({}), { spec: { deletionPolicy: 'Retain' } }],
  [
    'uid in a content',
    CONTENTS,
    content({}),
    { spec: { volumeSnapshotRef: { uid: '01234567-89ab-cdef-0123-456789abcdef' } } },
  ],
  [
    'status of a content',
    CONTENTS,
    content({}),
    { status: { snapshotHandle: 'h', restoreSize: 1, creationTime: 2, readyToUse: true } },
    '/status',
  ],
  ['source of a link', LINKS, link({ name: 's' }), { spec: { source: { name: 't' } } }],
  ['namespace of a link', LINKS, link({ name: 's' }), { spec: { source: { namespace: 'prod' } } }],
  ['labels of a link', LINKS, link({ name: 's' }), { metadata: { labels: { a: 'b' } } }],
];

/** Returns steps that create a grant in one version and use it in another. */
const versions = (written: string, read: string): Step[] => [
  ['POST', grants(written), grant(written)],
  ['GET', `${grants(read)}/a`],
  ['GET', grants(read)],
  ['PATCH', `${grants(read)}/a`, { spec: { to: [{ group: '', kind: 'Secret' }] } }, MERGE],
  ['PUT', `${grants(written)}/a`, grant(read)],
  ['GET', `${grants(written)}/a`],
  ['DELETE', `${grants(read)}/a`],
];

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
const table = (path: string, body: object, status?: object): Step[] => [
  ['POST', path, body],
  ...(status === undefined ? [] : [['PATCH', `${path}/a/status`, { status }, MERGE] as Step]),
  ['GET', path, undefined, TABLE],
];
const ready = { readyToUse: true, creationTime: '2001-01-02T03:04:05Z', restoreSize: '1Gi' };

/** Cases for Stowage's copies of the CRDs, which validate as the projects' own CRDs do. */
export const standardKinds = recorded(
  'standard-kinds',
  [SNAPSHOTS, CONTENTS, CLASSES, LINKS, grants('v1'), grants('v1beta1'), POPULATORS],
  Object.fromEntries<Step[]>([
    ...made.map(([title, path, body]): [string, Step[]] => [title, [['POST', path, body]]]),
    ...changed.map(([title, path, body, change, subresource = '']): [string, Step[]] => [
      `change: ${title}`,
      [
        ['POST', path, body],
        ['PATCH', `${path}/a${subresource}`, change, MERGE],
      ],
    ]),
    ['grant made as v1, used as v1beta1', versions('v1', 'v1beta1')],
    ['grant made as v1beta1, used as v1', versions('v1beta1', 'v1')],
    ...['gateway.networking.k8s.io', 'snapshot.storage.k8s.io', 'populator.storage.k8s.io'].map(
      (group): [string, Step[]] => [`discovery of ${group}`, [['GET', `/apis/${group}`]]],
    ),
    ['table of snapshots', table(SNAPSHOTS, snapshot(ofClaim), ready)],
    ['table of contents', table(CONTENTS, content({}), { readyToUse: true, restoreSize: 1024 })],
    ['table of classes', table(CLASSES, snapshotClass({ driver: 'd', deletionPolicy: 'Delete' }))],
    ['table of links', table(LINKS, link({ name: 's', namespace: 'prod' }))],
    ['table of grants', table(grants('v1'), grant('v1'))],
    [
      'table of populators',
      table(POPULATORS, populator({ sourceKind: { group: 'g', kind: 'K' } })),
    ],
    ['discovery of grants', [['GET', '/apis/gateway.networking.k8s.io/v1beta1']]],
  ]),
);
