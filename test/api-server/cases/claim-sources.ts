import { claim, ours, PATHS } from '../builtin.ts';
import { MERGE } from '../disks.ts';
import { recorded, type Step } from '../recorded.ts';

const SNAPSHOTS = 'snapshot.storage.k8s.io';
const pvc = { kind: 'PersistentVolumeClaim', name: 'c' };
const snapshot = { apiGroup: SNAPSHOTS, kind: 'VolumeSnapshot', name: 's' };
const ofPod = { kind: 'Pod', name: 'p' };
const custom = { apiGroup: 'example.com', kind: 'Disk', name: 'd' };
const across = { ...snapshot, namespace: 'other' };

/** Fields of created claims. The first twelve are those of KEP-1495's test plan, in its order. */
const made: [string, object][] = [
  ['of nothing', {}],
  ['of a claim', { dataSource: pvc }],
  ['of a snapshot', { dataSource: snapshot }],
  ['of the same twice', { dataSource: snapshot, dataSourceRef: snapshot }],
  ['of two', { dataSource: pvc, dataSourceRef: snapshot }],
  ['of a pod', { dataSource: ofPod }],
  ['of a custom resource', { dataSource: custom }],
  ['of a pod, and of a claim by reference', { dataSource: ofPod, dataSourceRef: pvc }],
  ['of a pod by reference', { dataSourceRef: ofPod }],
  ['of a claim by reference', { dataSourceRef: pvc }],
  ['of a snapshot by reference', { dataSourceRef: snapshot }],
  ['of a custom resource by reference', { dataSourceRef: custom }],

  ['of the same custom resource twice', { dataSource: custom, dataSourceRef: custom }],
  [
    'of a claim with a group and one without',
    { dataSource: pvc, dataSourceRef: { ...pvc, apiGroup: '' } },
  ],
  ['of no name', { dataSourceRef: { ...snapshot, name: '' } }],
  ['of no kind', { dataSourceRef: { ...snapshot, kind: '' } }],
  ['of an odd group', { dataSourceRef: { ...custom, apiGroup: 'A b' } }],
  ['of a namespace in the older field', { dataSource: across }],

  ['across namespaces', { dataSourceRef: across }],
  ['across namespaces, of a claim', { dataSourceRef: { ...pvc, namespace: 'other' } }],
  ['across namespaces, of a custom resource', { dataSourceRef: { ...custom, namespace: 'other' } }],
  ['across namespaces, of a pod', { dataSourceRef: { ...ofPod, namespace: 'other' } }],
  ['across namespaces, to its own', { dataSourceRef: { ...snapshot, namespace: 'default' } }],
  ['across namespaces, to none', { dataSourceRef: { ...snapshot, namespace: '' } }],
  [
    'across namespaces, to none, twice',
    { dataSource: snapshot, dataSourceRef: { ...snapshot, namespace: '' } },
  ],
  ['across namespaces, to an odd one', { dataSourceRef: { ...snapshot, namespace: 'A.b' } }],
  ['across namespaces, and the same in its own', { dataSource: snapshot, dataSourceRef: across }],
  ['across namespaces, and another in its own', { dataSource: pvc, dataSourceRef: across }],
  ['across namespaces, and a pod in its own', { dataSource: ofPod, dataSourceRef: across }],
];

/** Updates: the fields of a created claim, and the patch. */
const changed: [string, object, object][] = [
  ['the same again', { dataSource: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
  ['one that it had not', {}, { dataSource: snapshot }],
  ['a pod that it had not', {}, { dataSource: ofPod }],
  ['one that it had not, across namespaces', {}, { dataSourceRef: across }],
  ['another', { dataSource: snapshot }, { dataSource: { name: 'other' } }],
  ['another in both', { dataSource: snapshot }, { dataSource: pvc, dataSourceRef: pvc }],
  ['a namespace', { dataSource: snapshot }, { dataSourceRef: { namespace: 'other' } }],
  [
    'a namespace in place of its own',
    { dataSource: snapshot },
    { dataSource: null, dataSourceRef: across },
  ],
  ['nothing in the newer field', { dataSource: snapshot }, { dataSourceRef: null }],
  ['nothing in the older field', { dataSourceRef: custom }, { dataSource: null }],
  ['nothing in both', { dataSource: snapshot }, { dataSource: null, dataSourceRef: null }],
  ['the newer field of one across namespaces', { dataSourceRef: across }, { dataSourceRef: null }],
  ['its own namespace beside another', { dataSourceRef: across }, { dataSource: snapshot }],
];

const cases: [string, Step[]][] = [
  ...made.map(([title, spec]): [string, Step[]] => [title, [['POST', PATHS.claims, claim(spec)]]]),
  ...changed.map(([title, before, spec]): [string, Step[]] => [
    `change: ${title}`,
    [
      ['POST', PATHS.claims, claim(before)],
      ([first]) => ({
        unversioned: ['PATCH', `${PATHS.claims}/${first?.body.metadata.name}`, { spec }, MERGE],
      }),
    ],
  ]),
];

/** Data sources of claims with the gate CrossNamespaceVolumeDataSource off. */
export const claimSources = recorded(
  'claim-sources',
  [ours(PATHS.claims)],
  Object.fromEntries(cases),
);

/** The same cases with the gate on. */
export const claimSourcesAcross = recorded(
  'claim-sources-across-namespaces',
  [ours(PATHS.claims)],
  Object.fromEntries(cases),
);
