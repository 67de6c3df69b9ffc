import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { type SourceOptions, sourceFor } from '../../../src/controllers/provisioner/source.ts';
import { boundClaim, CONTENT, claimNamed, SNAPSHOT, TO_SNAPSHOT } from '../../support/snapshots.ts';
import { volumeNamed } from '../../support/volumes.ts';

const { claim: source, pv } = boundClaim('foo', 'test');
const claim = claimNamed('copy', { dataSource: { kind: 'PersistentVolumeClaim', name: 'foo' } });
const made = volumeNamed('pvc-foo');
made.status = { ...made.status, prepared: { node: 'n1', paths: [], identity: '' } };

const READ = {
  claim: async () => source,
  persistentVolume: async () => pv,
} as unknown as SourceOptions['read'];
const placed = (more: Partial<Volume['spec']>) =>
  sourceFor(claim, {
    gate: { crossNamespace: false },
    read: READ,
    volumeNamed: () => ({ ...made, spec: { ...made.spec, ...more } }) as Volume,
  });

test('a clone is created on the node of its source', async () => {
  expect(await placed({})).toMatchObject({ is: 'ready', nodes: ['n1'] });
  expect(await placed({ attachableNodes: ['n1'] })).toMatchObject({ is: 'ready', nodes: ['n1'] });
});

test('a Volume on several nodes is cloned only if it is read-only', async () => {
  expect(await placed({ attachableNodes: ['n1', 'n2'] })).toMatchObject({
    is: 'waits',
    message: expect.stringContaining('is in a directory that several nodes share'),
    detail: { code: 'SourceOnSharedDirectory' },
  });
  const template = { spec: { accessModes: ['ReadOnlyMany'] } };
  expect(await placed({ attachableNodes: ['n1', 'n2'], template })).toMatchObject({
    is: 'ready',
    nodes: ['n1', 'n2'],
  });
});

test('a clone waits until its source Volume is provisioned', async () => {
  const unmade = { ...made, status: {} } as Volume;
  expect(
    await sourceFor(claim, {
      gate: { crossNamespace: false },
      read: READ,
      volumeNamed: () => unmade,
    }),
  ).toMatchObject({ is: 'waits', detail: { code: 'SourceVolumeNotMade' } });
});

test('an unregistered kind is left to an external populator', async () => {
  const other = claimNamed('copy', {
    dataSourceRef: { apiGroup: 'example.com', kind: 'Image', name: 'a' },
  });
  const read = { definitions: async () => [] } as unknown as SourceOptions['read'];
  expect(
    await sourceFor(other, { gate: { crossNamespace: false }, read, volumeNamed: () => made }),
  ).toMatchObject({
    is: 'other',
    message: 'Assuming an external populator will provision the volume (Image test/a)',
    detail: { code: 'ExternalPopulator' },
  });
});

test.each<[string, string | undefined, ReasonCode, string]>([
  [
    'an invalid handle',
    'x',
    'SourceHandleInvalid',
    'VolumeSnapshotContent snapcontent-uid-snapshot: snapshotHandle "x" is neither file:NODES:PATH nor lvm:NODE:VG/LV',
  ],
  [
    'no handle any more',
    undefined,
    'SourceHandleMissing',
    'VolumeSnapshotContent snapcontent-uid-snapshot has no snapshotHandle yet',
  ],
])('a snapshot with %s is waited for', async (_, handle, code, message) => {
  const own = { ...SNAPSHOT, metadata: { ...SNAPSHOT.metadata, namespace: 'test' } };
  const ref = { ...CONTENT.spec.volumeSnapshotRef, namespace: 'test' };
  const contents = ['x', handle].map((snapshotHandle) => ({
    ...CONTENT,
    spec: { ...CONTENT.spec, volumeSnapshotRef: ref, source: {} },
    status: { ...CONTENT.status, snapshotHandle },
  }));
  const read = {
    snapshot: async () => own,
    content: async () => contents.shift(),
  } as unknown as SourceOptions['read'];
  const { namespace: _namespace, ...dataSourceRef } = TO_SNAPSHOT;
  const restored = claimNamed('restored', { dataSourceRef });
  expect(
    await sourceFor(restored, { gate: { crossNamespace: false }, read, volumeNamed: () => made }),
  ).toMatchObject({ is: 'waits', message, detail: { code } });
});
