import { describe, expect, test } from '@jest/globals';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/core.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import { checkSourceClaim } from '../../../src/model/data-source/check-claim.ts';
import { checkSnapshot } from '../../../src/model/data-source/check-snapshot.ts';
import { boundClaim, CONTENT, claimNamed, SNAPSHOT } from '../../support/snapshots.ts';

const snapshotWith = (
  status: Partial<VolumeSnapshot['status']>,
  metadata: object = {},
): VolumeSnapshot => ({
  ...SNAPSHOT,
  metadata: { ...SNAPSHOT.metadata, ...metadata },
  status: { ...SNAPSHOT.status, ...status },
});
const contentWith = (spec: object, status: object = {}): VolumeSnapshotContent => ({
  ...CONTENT,
  spec: { ...CONTENT.spec, ...spec },
  status: { ...CONTENT.status, ...status },
});
const asking = (storage: string, more: object = {}) =>
  claimNamed('c', { resources: { requests: { storage } }, ...more });
const ref = CONTENT.spec.volumeSnapshotRef;

describe('a snapshot', () => {
  const on = [
    { kind: 'VolumeSnapshot', namespace: 'prod', name: 'foo-backup' },
    { kind: 'VolumeSnapshotContent', name: 'snapcontent-uid-snapshot' },
  ];

  test.each<[string, VolumeSnapshotContent, bigint]>([
    ['with a size in its content', CONTENT, 1n << 30n],
    ['with a size in the snapshot only', contentWith({}, { restoreSize: undefined }), 1n << 30n],
    ['with another size in its content', contentWith({}, { restoreSize: 4096 }), 4096n],
  ])('is usable: %s', (_name, content, restoreSizeBytes) => {
    expect(checkSnapshot(SNAPSHOT, content, asking('1Gi'))).toEqual({
      usable: { contentName: 'snapcontent-uid-snapshot', restoreSizeBytes },
    });
  });

  /** Each case also fails all later checks: the first failure must be reported. */
  const wrongs: [string, 'wait' | 'refuse', string, string][] = [
    ['SourceBeingDeleted', 'wait', 'VolumeSnapshot prod/foo-backup is being deleted', 'deleted'],
    [
      'SnapshotUnbound',
      'wait',
      'VolumeSnapshot prod/foo-backup is not bound to a VolumeSnapshotContent: it broke',
      'bound',
    ],
    [
      'SourceContentMissing',
      'wait',
      'VolumeSnapshot prod/foo-backup is bound to VolumeSnapshotContent snapcontent-uid-snapshot, which does not exist',
      'content',
    ],
    [
      'SourceContentOfAnother',
      'wait',
      'VolumeSnapshotContent snapcontent-uid-snapshot of VolumeSnapshot prod/foo-backup is bound to another snapshot',
      'another',
    ],
    [
      'SnapshotForeign',
      'refuse',
      'VolumeSnapshot prod/foo-backup was taken by driver other.example, and storage class fast uses volume.stowage.dev',
      'driver',
    ],
    ['SnapshotNotReady', 'wait', 'VolumeSnapshot prod/foo-backup is not ready: it broke', 'ready'],
    [
      'SnapshotHandleMissing',
      'wait',
      'VolumeSnapshotContent snapcontent-uid-snapshot of VolumeSnapshot prod/foo-backup has no snapshot handle yet',
      'handle',
    ],
    [
      'SmallerThanSnapshot',
      'refuse',
      'the claim requests 1Mi, and VolumeSnapshot prod/foo-backup needs 1Gi',
      'size',
    ],
    [
      'ModeDiffers',
      'refuse',
      'the claim requests volume mode Block, and VolumeSnapshot prod/foo-backup has mode Filesystem',
      'mode',
    ],
  ];
  const from = (step: string) => {
    const wrong = (each: string) =>
      wrongs.findIndex(([, , , name]) => name === each) >=
      wrongs.findIndex(([, , , name]) => name === step);
    const snapshot = snapshotWith(
      {
        ...(wrong('ready') && { readyToUse: false }),
        ...(wrong('bound') && step === 'bound' && { boundVolumeSnapshotContentName: '' }),
        error: { message: 'it broke' },
      },
      wrong('deleted') && step === 'deleted' ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {},
    );
    const content = contentWith(
      {
        ...(wrong('driver') && { driver: 'other.example' }),
        ...(wrong('another') && { volumeSnapshotRef: { ...ref, uid: 'uid-other' } }),
      },
      wrong('handle') ? { snapshotHandle: '' } : {},
    );
    const claim = asking(
      wrong('size') ? '1Mi' : '1Gi',
      wrong('mode') ? { volumeMode: 'Block' } : {},
    );
    return checkSnapshot(snapshot, step === 'content' ? undefined : content, claim);
  };

  test.each(wrongs)('reports %s (%s): %s', (code, sort, refusal, step) => {
    const objects = step === 'bound' ? on.slice(0, 1) : on;
    expect(from(step)).toEqual({
      [sort]: { reason: { code, parameters: expect.anything() }, refusal, hint: '', on: objects },
    });
  });

  test.each<[string, object]>([
    ['namespace', { namespace: 'other' }],
    ['name', { name: 'other' }],
    ['UID', { uid: 'other' }],
    ['UID, which is not set yet', { uid: undefined }],
  ])('must wait if its content refers to another %s', (_name, part) => {
    const content = contentWith({ volumeSnapshotRef: { ...ref, ...part } });
    expect(checkSnapshot(SNAPSHOT, content, asking('1Gi'))).toMatchObject({
      wait: { reason: { code: 'SourceContentOfAnother' } },
    });
  });

  test('is refused if it is one byte larger than the claim’s request', () => {
    const content = contentWith({}, { restoreSize: 2 ** 30 + 1 });
    expect(checkSnapshot(SNAPSHOT, content, asking('1Gi'))).toMatchObject({
      refuse: { reason: { code: 'SmallerThanSnapshot' } },
    });
  });
});

describe('the source of a clone', () => {
  const { claim: source, pv } = boundClaim('foo', 'test');
  const sourceWith = (parts: Partial<PersistentVolumeClaim>): PersistentVolumeClaim => ({
    ...source,
    ...parts,
  });
  const pvWith = (spec: object, metadata: object = {}): PersistentVolume => ({
    ...pv,
    metadata: { ...pv.metadata, ...metadata },
    spec: { ...pv.spec, ...spec },
  });

  test('is usable if bound, managed and small enough', () => {
    expect(checkSourceClaim(source, pv, asking('2Gi'))).toEqual({
      usable: { volumeName: 'pvc-foo', restoreSizeBytes: 1n << 30n },
    });
  });

  test.each<
    [string, 'wait' | 'refuse', string, PersistentVolumeClaim, PersistentVolume | undefined, object]
  >([
    [
      'SourceBeingDeleted',
      'wait',
      'PersistentVolumeClaim test/foo is being deleted',
      sourceWith({ metadata: { ...source.metadata, deletionTimestamp: 'x' } }),
      pv,
      {},
    ],
    [
      'SourceUnbound',
      'wait',
      'PersistentVolumeClaim test/foo is Pending, and must be Bound',
      sourceWith({ status: { phase: 'Pending' } }),
      pv,
      {},
    ],
    [
      'SourceUnbound',
      'wait',
      'PersistentVolumeClaim test/foo is Pending',
      sourceWith({ status: {} }),
      pv,
      {},
    ],
    [
      'SourceVolumeMissing',
      'wait',
      'to PersistentVolume pvc-foo, which does not exist',
      source,
      undefined,
      {},
    ],
    [
      'SourceVolumeOfAnother',
      'wait',
      'PersistentVolume pvc-foo of PersistentVolumeClaim test/foo is bound to another claim',
      source,
      pvWith({ claimRef: { ...pv.spec.claimRef, uid: 'other' } }),
      {},
    ],
    [
      'SourceForeign',
      'refuse',
      'the volume of PersistentVolumeClaim test/foo is not managed by Stowage',
      source,
      pvWith({}, { ownerReferences: [] }),
      {},
    ],
    [
      'SmallerThanSource',
      'refuse',
      'requests 1Gi, and PersistentVolumeClaim test/foo has 2Gi',
      ...pair('2Gi'),
      {},
    ],
    [
      'ModeDiffers',
      'refuse',
      'the claim requests volume mode Block, and PersistentVolumeClaim test/foo has mode Filesystem',
      source,
      pv,
      { volumeMode: 'Block' },
    ],
  ])('reports %s (%s): %s', (code, sort, message, from, of, spec) => {
    expect(checkSourceClaim(from, of, asking('1Gi', spec))).toMatchObject({
      [sort]: { reason: { code }, refusal: expect.stringContaining(message) },
    });
  });

  test('is refused if it is the claim itself', () => {
    expect(checkSourceClaim(source, pv, source)).toMatchObject({
      refuse: { reason: { code: 'SourceItself' } },
    });
  });

  function pair(size: string): [PersistentVolumeClaim, PersistentVolume] {
    const { claim, pv } = boundClaim('foo', 'test', size);
    return [claim, pv];
  }
});
