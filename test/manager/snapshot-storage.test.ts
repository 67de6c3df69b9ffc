import { expect, test } from '@jest/globals';
import { explain } from '../../src/api/reasons.ts';
import type { SnapshotHandle } from '../../src/api/snapshot-handle.ts';
import type { Volume } from '../../src/api/volume.ts';
import { snapshotStorage } from '../../src/manager/snapshot-storage.ts';
import { prepared } from '../support/decisions.ts';
import { viewAnswers } from '../support/lvm-reports.ts';
import { COPY_UID, uncopied } from '../support/snapshot-copy.ts';
import { content } from '../support/snapshot-objects.ts';
import { SNAP, SNAP_UID, snapLv, snapped } from '../support/thin-input.ts';
import { UID, unmounted, volume } from '../support/volume-input.ts';

const { storage, wantedOf } = snapshotStorage('/var/lib/kubelet');
const handle: SnapshotHandle = { type: 'lvm', nodes: ['n1'], vgName: 'vg0', name: SNAP };
const inGroup = (vgName: string): Volume => {
  const made = volume({ prepared });
  const lvmLogicalVolume = { vgName, size: '1Gi', thinPool: 'pool' };
  return {
    ...made,
    spec: { ...made.spec, sparseLoopDevice: undefined, lvmLogicalVolume },
  } as unknown as Volume;
};
const freeze = { seconds: 10, copy: false };

test('a thin snapshot is derived from its handle and the Volume of its content', () => {
  const wanted = wantedOf(content(), inGroup('vg0'), 'n1', handle, freeze);
  if ('message' in wanted) throw new Error(wanted.message);
  expect(wanted).toMatchObject({
    uid: SNAP_UID,
    vgName: 'vg0',
    name: SNAP,
    volume: { type: 'lvm', uid: UID },
  });
  expect(storage.before(wanted).map(({ name }) => name)).toEqual(viewAnswers.map(([name]) => name));
  expect(storage.probes(wanted, new Map(viewAnswers)).map(({ name }) => name)).toContain(
    'logical volumes',
  );
  expect(storage.plan('take', wanted, { ...snapped, volumes: [snapLv] })).toEqual({ steps: [] });
  expect(storage.copyOf(wanted, { ...snapped, volumes: [snapLv] })).toEqual({ sizeBytes: 2 ** 30 });
  expect(storage.copyOf(wanted, snapped)).toBeUndefined();
  expect(storage.leftOf(wanted, snapped)).toBe(0n);
});

test('a file copy is unreachable while its directory is not mounted', () => {
  const path = `/var/lib/metalk8s/storage/sparse/snapshots/${COPY_UID}`;
  const wanted = wantedOf(
    content(),
    undefined,
    'n1',
    { type: 'file', nodes: ['n1'], path },
    undefined,
  );
  if ('message' in wanted) throw new Error(wanted.message);
  const away = { ...uncopied, volume: { ...uncopied.volume, directory: unmounted } };
  expect(storage.awayOf(wanted, away)).toMatchObject({
    reason: { code: 'DirectoryNotMounted' },
  });
  expect(storage.awayOf(wanted, uncopied)).toBeUndefined();
  expect(storage.leftOf(wanted, { ...uncopied, partialBytes: 4096n })).toBe(4096n);
  expect(
    [false, true].map((is) => storage.leavesFrozen(wanted, { ...uncopied, freezeIsLeft: is })),
  ).toEqual([false, true]);
});

test('a snapshot is deleted by its handle alone, and not taken of a Volume that moved', () => {
  expect(wantedOf(content(), undefined, 'n1', handle, undefined)).toMatchObject({
    volume: undefined,
  });
  for (const other of [undefined, inGroup('vg1'), volume({ prepared })]) {
    expect(wantedOf(content(), other, 'n1', handle, freeze)).toEqual(
      explain('SnapshotVolumeMoved', { volume: 'data1', group: 'vg0' }),
    );
  }
  const path = `/srv/snapshots/${COPY_UID}`;
  const file: SnapshotHandle = { type: 'file', nodes: ['n1'], path };
  expect(wantedOf(content(), volume({ prepared }), 'n1', file, freeze)).toEqual(
    explain('SnapshotFileMoved', { volume: 'data1', folder: '/srv' }),
  );
});
