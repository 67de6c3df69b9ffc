import { describe, expect, test } from '@jest/globals';
import type { PersistentVolumeClaim } from '../../../src/api/core.ts';
import { DRIVER } from '../../../src/api/names.ts';
import type { VolumeSnapshot } from '../../../src/api/snapshot.ts';
import { claimRow } from '../../../src/cli/ui/screens/claim-row.ts';
import { createServedClaims } from '../../../src/cli/ui/screens/served-claims.ts';
import { snapshotRow } from '../../../src/cli/ui/screens/snapshot-row.ts';
import type { VolumeRow } from '../../../src/ui/protocol.ts';
import { classNamed } from '../../support/volumes.ts';

const claim = (more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'db', name: 'data-0', uid: 'u1', resourceVersion: '7' },
  spec: { storageClassName: 'fast' },
  ...more,
});

/** Returns served claims, with the Volumes that a test adds. */
function scene() {
  const volumes = new Map<string, VolumeRow>();
  const changes: string[] = [];
  const served = createServedClaims(
    (name) => volumes.get(name),
    (key) => changes.push(key),
  );
  const putVolume = (name: string, more: Partial<VolumeRow> = {}, storageClass = 'static') => {
    volumes.set(name, { name, claim: '', ready: 'True', reason: 'Ready', ...more } as VolumeRow);
    served.volumeChanged(name, storageClass);
  };
  const dropVolume = (name: string) => {
    volumes.delete(name);
    served.volumeChanged(name, undefined);
  };
  return { served, changes, putVolume, dropVolume, names: () => [...served.rows.keys()] };
}

describe('claims that Stowage serves', () => {
  test('are those of a class of the daemon, as long as the class exists', () => {
    const { served, names } = scene();
    served.take(claim());
    expect(names()).toEqual([]);
    served.takeClass(classNamed('fast', { provisioner: DRIVER }));
    expect(names()).toEqual(['db/data-0']);
    served.takeClass(classNamed('fast', { provisioner: 'example.com/other' }));
    expect(names()).toEqual([]);
    served.takeClass(classNamed('fast', { provisioner: DRIVER }));
    served.takeClass(classNamed('fast'), true);
    expect(names()).toEqual([]);
  });

  test('are those of a static class that a Volume has', () => {
    const { served, names, putVolume, dropVolume } = scene();
    served.take(claim());
    served.takeClass(classNamed('fast'));
    expect(names()).toEqual([]);
    putVolume('data1', { claim: 'web/other' }, 'fast');
    putVolume('data2', { claim: 'web/other' }, 'fast');
    expect(names()).toEqual(['db/data-0']);
    dropVolume('data1');
    expect(names()).toEqual(['db/data-0']);
    putVolume('data2', { claim: 'web/other' }, 'other');
    expect(names()).toEqual([]);
  });

  test.each([
    ['is bound to', claim({ spec: { volumeName: 'data1' } }), 'data1'],
    ['was provisioned for', claim({ spec: {} }), 'pvc-u1'],
  ])('are those that a Volume %s', (_how, object, volume) => {
    const { served, names, putVolume, dropVolume } = scene();
    served.take(object);
    putVolume(volume);
    expect(served.rows.get('db/data-0')).toMatchObject({ volume });
    dropVolume(volume);
    expect(names()).toEqual([]);
  });

  test('are not those that name the Volume of another claim', () => {
    const { served, names, putVolume } = scene();
    putVolume('data1', { claim: 'web/other' });
    served.take(claim({ spec: { volumeName: 'data1' } }));
    expect(names()).toEqual([]);
    putVolume('data1', { claim: 'db/data-0' });
    expect(names()).toEqual(['db/data-0']);
  });

  test('are reported once for each change that they show', () => {
    const { served, changes, putVolume } = scene();
    served.take(claim({ spec: { volumeName: 'data1' } }));
    putVolume('data1');
    putVolume('data1', { phase: 'Failed' });
    expect(changes).toEqual(['db/data-0']);
    putVolume('data1', { ready: 'False', reason: 'NoSpace' });
    expect(changes).toHaveLength(2);
    served.take(claim(), true);
    served.take(claim(), true);
    expect(changes).toHaveLength(3);
    // The Volume no longer leads to the claim that is gone.
    putVolume('data1', { ready: 'True' });
    expect(changes).toHaveLength(3);
  });
});

const applied = JSON.stringify({
  metadata: { namespace: 'db', name: 'data-0' },
  spec: { dataSourceRef: { kind: 'VolumeSnapshot', name: 'x', namespace: 'web' } },
});

test.each<[string, Partial<PersistentVolumeClaim>, Partial<VolumeRow> | undefined, object]>([
  ['a new claim', {}, undefined, { phase: 'Pending', size: '', bytes: 0, volume: '', reason: '' }],
  [
    'a bound claim',
    {
      spec: { resources: { requests: { storage: '1Gi' } } },
      status: { phase: 'Bound', capacity: { storage: '2Gi' } },
    },
    { name: 'data1', ready: 'True', reason: 'Ready' },
    { phase: 'Bound', size: '2Gi', bytes: 2 ** 31, volume: 'data1', reason: '' },
  ],
  [
    'a claim whose Volume is not ready',
    {},
    { name: 'data1', ready: 'False', reason: 'NoSpace' },
    { volume: 'data1', reason: 'NoSpace' },
  ],
  [
    'a claim that grows',
    { status: { phase: 'Bound', conditions: [{ type: 'Resizing', status: 'True' }] } },
    { name: 'data1', ready: 'True' },
    { reason: 'Resizing' },
  ],
  [
    'a claim with a data source of another namespace',
    { spec: { dataSourceRef: { kind: 'VolumeSnapshot', name: 'x', namespace: 'web' } } },
    undefined,
    { sourceKind: 'VolumeSnapshot', sourceName: 'web/x' },
  ],
  [
    'a claim whose data source was dropped',
    {
      metadata: {
        ...{ namespace: 'db', name: 'data-0' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
      },
    },
    undefined,
    { sourceKind: '', reason: 'SourceDropped' },
  ],
  [
    'a claim that is being deleted',
    { metadata: { namespace: 'db', name: 'data-0', deletionTimestamp: '2030-01-01T00:00:00Z' } },
    undefined,
    { phase: 'Terminating' },
  ],
])('the row of %s', (_what, more, volume, row) => {
  expect(claimRow(claim(more), volume as VolumeRow | undefined)).toMatchObject(row);
});

const HOSTILE = `<img src=x onerror=alert(1)>\u202e\u0000\u001b[2J${'n'.repeat(3000)}`;
const SECRET = 'hunter2';

test('rows of hostile objects have named fields, as texts that steer nothing', () => {
  const metadata = {
    ...{ namespace: HOSTILE, name: HOSTILE, uid: HOSTILE, creationTimestamp: HOSTILE },
    annotations: { password: SECRET },
    managedFields: [{ manager: SECRET }],
  };
  const rows = [
    claimRow(
      {
        ...claim({ metadata }),
        spec: {
          ...{ storageClassName: HOSTILE, resources: { requests: { storage: HOSTILE } } },
          dataSourceRef: { apiGroup: HOSTILE, kind: HOSTILE, name: HOSTILE, namespace: HOSTILE },
        },
        status: { phase: HOSTILE as never, conditions: [{ type: HOSTILE, status: 'True' }] },
      },
      undefined,
    ),
    snapshotRow({
      ...{ apiVersion: 'v1', kind: 'VolumeSnapshot', metadata },
      spec: { source: { persistentVolumeClaimName: HOSTILE }, volumeSnapshotClassName: HOSTILE },
      status: {
        ...{ readyToUse: false, restoreSize: HOSTILE, creationTime: HOSTILE },
        error: { message: `${HOSTILE} https://me:${SECRET}@example.com/` },
      },
    } as VolumeSnapshot),
  ];
  for (const row of rows) {
    expect(JSON.stringify(row)).not.toContain(SECRET);
    expect(row).toMatchObject({ bytes: 0, created: '' });
    for (const text of Object.values(row).filter((value) => typeof value === 'string')) {
      expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
      expect(text.length).toBeLessThanOrEqual(2001);
    }
  }
});

test.each<[VolumeSnapshot['status'], object]>([
  [undefined, { phase: 'Pending', size: '', taken: '', message: '' }],
  [
    { readyToUse: true, restoreSize: '1Gi', creationTime: '2030-01-01T00:00:00Z' },
    { phase: 'Ready', size: '1Gi', bytes: 2 ** 30, taken: '2030-01-01T00:00:00.000Z' },
  ],
  [{ error: { message: 'no' } }, { phase: 'Failed', message: 'no' }],
])('the row of a snapshot with the status %j', (status, row) => {
  const snapshot = {
    ...{ apiVersion: 'v1', kind: 'VolumeSnapshot', metadata: { namespace: 'db', name: 'a' } },
    spec: { source: { persistentVolumeClaimName: 'data-0' } },
    ...(status && { status }),
  };
  expect(snapshotRow(snapshot)).toMatchObject({ name: 'db/a', claim: 'db/data-0', ...row });
});
