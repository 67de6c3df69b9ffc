import { describe, expect, test } from '@jest/globals';
import { grantFor, isGranted, nearMisses } from '../../../src/model/data-source/grant.ts';
import { FROM_CLAIMS, FROM_LINKS, grantNamed, TO_BACKUP } from '../../support/snapshots.ts';

const FROM = FROM_CLAIMS;
const TO = { ...TO_BACKUP, namespace: 'prod' };
const { name: _, ...ALL } = TO_BACKUP;
const OTHER_FROM = { ...FROM, namespace: 'other' };
const OTHER_TO = { ...TO_BACKUP, name: 'other' };

test.each<[string, object]>([
  ['matching from and to', { from: [FROM], to: [TO_BACKUP] }],
  ['no name', { from: [FROM], to: [ALL] }],
  ['an empty name', { from: [FROM], to: [{ ...ALL, name: '' }] }],
  ['a match among several entries', { from: [OTHER_FROM, FROM], to: [OTHER_TO, TO_BACKUP] }],
])('a grant with %s allows the reference', (_name, spec) => {
  const grant = grantNamed('bar', spec);
  expect(grantFor([grantNamed('a', { from: [], to: [] }), grant], FROM, TO)).toBe(grant);
  expect(isGranted([grant], FROM, TO)).toBe(true);
  expect(nearMisses([grant], FROM, TO)).toEqual([]);
});

describe('a grant that does not match', () => {
  test.each<[string, object, string[]]>([
    [
      'the group of the snapshot with a version',
      { from: [FROM], to: [{ ...TO_BACKUP, group: 'snapshot.storage.k8s.io/v1' }] },
      [
        'to.group is "snapshot.storage.k8s.io/v1", not "snapshot.storage.k8s.io" (without a version)',
      ],
    ],
    [
      'the core group as a version',
      { from: [{ ...FROM, group: 'v1' }], to: [TO_BACKUP] },
      ['from.group is "v1", not "" (without a version)'],
    ],
    [
      'another group',
      { from: [{ ...FROM, group: 'apps' }], to: [TO_BACKUP] },
      ['from.group is "apps", not ""'],
    ],
    [
      'a plural for the kind',
      { from: [FROM], to: [{ ...TO_BACKUP, kind: 'volumesnapshots' }] },
      ['to.kind is "volumesnapshots", not "VolumeSnapshot"'],
    ],
    [
      'links instead of claims',
      { from: [FROM_LINKS], to: [TO_BACKUP] },
      [
        'from.kind is "VolumeSnapshotLink" of group "snapshot.storage.k8s.io", not "PersistentVolumeClaim" of group ""',
      ],
    ],
    [
      'another namespace',
      { from: [OTHER_FROM], to: [TO_BACKUP] },
      ['from.namespace is "other", not "test"'],
    ],
    ['another name', { from: [FROM], to: [OTHER_TO] }, ['to.name is "other", not "foo-backup"']],
    [
      'two mismatches',
      { from: [OTHER_FROM], to: [OTHER_TO] },
      ['from.namespace is "other", not "test"', 'to.name is "other", not "foo-backup"'],
    ],
    ['an empty to', { from: [FROM], to: [] }, ['spec.to is empty']],
    [
      'a null from, which no schema forbids',
      { from: null, to: [TO_BACKUP] },
      ['spec.from is empty'],
    ],
  ])('allows nothing, and nearMisses names the mismatch: %s', (_name, spec, wrong) => {
    const grant = grantNamed('bar', spec);
    expect(isGranted([grant], FROM, TO)).toBe(false);
    expect(nearMisses([grant], FROM, TO)).toEqual([{ namespace: 'prod', name: 'bar', wrong }]);
  });

  test('allows nothing in the namespace of the claim', () => {
    const grant = grantNamed('bar', { from: [FROM], to: [TO_BACKUP] }, { namespace: 'test' });
    expect(isGranted([grant], FROM, TO)).toBe(false);
    expect(nearMisses([grant], FROM, TO)[0]?.wrong).toEqual([
      'it is in namespace test, but must be in namespace prod of the VolumeSnapshot',
    ]);
  });

  test('allows nothing while it is being deleted', () => {
    const metadata = { deletionTimestamp: '2030-01-01T00:00:00Z' };
    const grant = grantNamed('bar', { from: [FROM], to: [TO_BACKUP] }, metadata);
    expect(isGranted([grant], FROM, TO)).toBe(false);
    expect(nearMisses([grant], FROM, TO)[0]?.wrong).toEqual(['it is being deleted']);
  });
});

test('two grants that each match one side allow nothing', () => {
  const halves = [
    grantNamed('a', { from: [FROM], to: [OTHER_TO] }),
    grantNamed('b', { from: [OTHER_FROM], to: [TO_BACKUP] }),
  ];
  expect(isGranted(halves, FROM, TO)).toBe(false);
});

test('nearMisses lists the nearest grant first, and omits unrelated grants', () => {
  const route = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'web' };
  const found = nearMisses(
    [
      grantNamed('far', { from: [OTHER_FROM], to: [OTHER_TO] }),
      grantNamed('gateway', { from: [route], to: [{ group: '', kind: 'Service', name: 'x' }] }),
      grantNamed('near', { from: [FROM], to: [OTHER_TO] }),
    ],
    FROM,
    TO,
  );
  expect(found.map(({ name }) => name)).toEqual(['near', 'far']);
});

test('each of 1,000 claims is allowed by its own grant alone among 1,000 grants', () => {
  const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
  const grants = names.map((name) =>
    grantNamed(name, {
      from: [{ ...FROM, namespace: `test-${name}` }],
      to: [{ ...TO_BACKUP, name }],
    }),
  );
  for (const [index, name] of names.entries()) {
    const from = { ...FROM, namespace: `test-${name}` };
    expect(grantFor(grants, from, { ...TO, name })?.metadata.name).toBe(name);
    const next = names[(index + 1) % names.length] ?? '';
    expect(isGranted(grants, from, { ...TO, name: next })).toBe(false);
  }
});
