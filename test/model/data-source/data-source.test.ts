import { describe, expect, test } from '@jest/globals';
import type { DataSourceReference, PersistentVolumeClaim } from '../../../src/api/core.ts';
import { dataSourceOf } from '../../../src/model/data-source/data-source.ts';
import { claimNamed } from '../../support/snapshots.ts';

const GROUP = 'snapshot.storage.k8s.io';
const ON = { crossNamespace: true };
const OFF = { crossNamespace: false };
const snapshot = (more: object = {}): DataSourceReference => ({
  apiGroup: GROUP,
  kind: 'VolumeSnapshot',
  name: 'a',
  ...more,
});
const OWN = { kind: 'snapshot', namespace: 'test', name: 'a', from: 'PersistentVolumeClaim' };

test.each<[string, Partial<PersistentVolumeClaim['spec']>, { crossNamespace: boolean }, object]>([
  ['none', {}, ON, { kind: 'none' }],
  ['a snapshot', { dataSourceRef: snapshot() }, OFF, OWN],
  ['a snapshot in dataSource alone', { dataSource: snapshot() }, OFF, OWN],
  [
    'both fields, of which dataSourceRef counts',
    { dataSource: snapshot({ name: 'b' }), dataSourceRef: snapshot() },
    ON,
    OWN,
  ],
  [
    'its own namespace written out, without the gate',
    { dataSourceRef: snapshot({ namespace: 'test' }) },
    OFF,
    OWN,
  ],
  ['an empty namespace', { dataSourceRef: snapshot({ namespace: '' }) }, OFF, OWN],
  [
    'another namespace',
    { dataSourceRef: snapshot({ namespace: 'prod' }) },
    ON,
    { ...OWN, namespace: 'prod' },
  ],
  [
    'another namespace with the gate off',
    { dataSourceRef: snapshot({ namespace: 'prod' }) },
    OFF,
    { kind: 'gate-off', objectKind: 'VolumeSnapshot', namespace: 'prod', name: 'a' },
  ],
  [
    'a claim',
    { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a' } },
    OFF,
    { kind: 'claim', namespace: 'test', name: 'a' },
  ],
  [
    'a claim of the group null',
    { dataSourceRef: { apiGroup: null, kind: 'PersistentVolumeClaim', name: 'a' } },
    OFF,
    { kind: 'claim', namespace: 'test', name: 'a' },
  ],
  [
    'a claim elsewhere with the gate off',
    { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a', namespace: 'prod' } },
    OFF,
    { kind: 'gate-off', objectKind: 'PersistentVolumeClaim', namespace: 'prod', name: 'a' },
  ],
  [
    'a link, without the gate',
    { dataSourceRef: snapshot({ kind: 'VolumeSnapshotLink' }) },
    OFF,
    { kind: 'link', namespace: 'test', name: 'a' },
  ],
  [
    'a snapshot of a group with a version',
    { dataSourceRef: snapshot({ apiGroup: `${GROUP}/v1` }) },
    ON,
    {
      kind: 'other',
      group: `${GROUP}/v1`,
      objectKind: 'VolumeSnapshot',
      namespace: 'test',
      name: 'a',
    },
  ],
  [
    'a kind of that name in another group',
    { dataSourceRef: snapshot({ apiGroup: 'example.com' }) },
    ON,
    {
      kind: 'other',
      group: 'example.com',
      objectKind: 'VolumeSnapshot',
      namespace: 'test',
      name: 'a',
    },
  ],
  [
    'another kind of the snapshot group',
    { dataSourceRef: snapshot({ kind: 'VolumeGroupSnapshot' }) },
    ON,
    {
      kind: 'other',
      group: GROUP,
      objectKind: 'VolumeGroupSnapshot',
      namespace: 'test',
      name: 'a',
    },
  ],
  [
    'a kind of another populator in another namespace, whatever the gate',
    { dataSourceRef: { apiGroup: 'example.com', kind: 'Image', name: 'a', namespace: 'prod' } },
    OFF,
    { kind: 'other', group: 'example.com', objectKind: 'Image', namespace: 'prod', name: 'a' },
  ],
])('dataSourceOf: %s', (_name, spec, gate, wanted) => {
  expect(dataSourceOf(claimNamed('c', spec), gate)).toEqual(wanted);
});

describe('a dropped data source', () => {
  const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
  const applied = (spec: object, metadata: object = { name: 'c', namespace: 'test' }) =>
    JSON.stringify({ metadata, spec });
  const ref = snapshot({ namespace: 'prod' });
  const DROPPED = { kind: 'dropped', objectKind: 'VolumeSnapshot', namespace: 'prod', name: 'a' };
  const NONE = { kind: 'none' };
  test.each<[string, string, object]>([
    ['in dataSourceRef', applied({ dataSourceRef: ref }), DROPPED],
    ['in dataSource', applied({ dataSource: snapshot() }), { ...DROPPED, namespace: 'test' }],
    ['no data source', applied({}), NONE],
    ['a null data source', applied({ dataSourceRef: null }), NONE],
    [
      'for a claim of another name',
      applied({ dataSourceRef: ref }, { name: 'd', namespace: 'test' }),
      NONE,
    ],
    [
      'for a claim in another namespace',
      applied({ dataSourceRef: ref }, { name: 'c', namespace: 'prod' }),
      NONE,
    ],
    ['invalid JSON', '{', NONE],
    ['null', 'null', NONE],
    ['an invalid data source', applied({ dataSourceRef: { kind: 1 } }), NONE],
  ])('is read from the last-applied annotation: %s', (_name, text, wanted) => {
    const claim = claimNamed('c');
    claim.metadata.annotations = { [ANNOTATION]: text };
    expect(dataSourceOf(claim, ON)).toEqual(wanted);
    // The spec has precedence over the annotation.
    claim.spec.dataSourceRef = snapshot();
    expect(dataSourceOf(claim, ON)).toEqual(OWN);
  });
});
