import { expect, test } from '@jest/globals';
import type { VolumeSnapshotContent } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { createReservations } from '../../src/controllers/lib/capacity/reservations.ts';
import { noteOf } from '../../src/controllers/snapshot/job-record.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { copiesOf } from '../../src/manager/kept-copies.ts';
import { CONTENT_UID, content, HANDLE_TEXT, note, volume } from '../support/snapshot-objects.ts';

const FOLDER = '/var/lib/metalk8s/storage/sparse';
const GIB = 1n << 30n;
const LV = `snap-${CONTENT_UID}`;

const thin: Volume = {
  ...volume(),
  spec: {
    ...{ nodeName: 'n1', storageClassName: 'fast' },
    lvmLogicalVolume: { vgName: 'vg0', thinPool: 'pool', size: '3Gi' },
  },
};
const thinNote = note({ handle: { type: 'lvm', nodes: ['n1'], vgName: 'vg0', name: LV } });
const ready = { snapshotHandle: HANDLE_TEXT, restoreSize: Number(2n * GIB), readyToUse: true };

interface Scene {
  /** The content in the cache. */
  known?: VolumeSnapshotContent;
  /** The content that is being written. */
  naming?: VolumeSnapshotContent;
  of?: Volume;
}

/** Returns the copies that use space on n1. */
function copies({ known, naming, of }: Scene) {
  let tell: (change: object) => void = () => {};
  const contents = {
    onChange: (handler: typeof tell) => {
      tell = handler;
    },
  } as unknown as Informer<VolumeSnapshotContent>;
  const promises = createReservations<VolumeSnapshotContent>(
    (each, node) => noteOf(each)?.handle.nodes.includes(node) ?? false,
  );
  const on = copiesOf(contents, { get: () => of }, promises);
  if (known !== undefined) tell({ type: 'added', object: known });
  if (naming !== undefined) promises.reserve(naming);
  expect(on('n2')).toEqual([]);
  return on('n1');
}

const file = (sizeBytes: bigint) => [{ uid: CONTENT_UID, place: FOLDER, sizeBytes }];
const inPool = (sizeBytes: bigint) => [
  { uid: CONTENT_UID, place: 'vg0/pool', lvName: LV, sizeBytes },
];

test.each<[string, Scene, object[]]>([
  [
    'an existing file takes its own size',
    { known: content({ status: ready }), of: volume() },
    file(2n * GIB),
  ],
  [
    'an existing file without its Volume takes its own size',
    { known: content({ status: ready }) },
    file(2n * GIB),
  ],
  [
    'a copy with a recorded job takes the size of its Volume',
    { known: content({ note: note() }), of: volume() },
    file(GIB),
  ],
  [
    'a copy whose job is being recorded takes the size of its Volume',
    { known: content(), naming: content({ note: note() }), of: volume() },
    file(GIB),
  ],
  [
    'a copy with two records of its job counts once',
    { known: content({ note: note() }), naming: content({ note: note() }), of: volume() },
    file(GIB),
  ],
  ['a copy without a job takes nothing', { known: content(), of: volume() }, []],
  [
    'a copy of another driver takes nothing',
    { known: content({ note: note(), spec: { driver: 'other' } }), of: volume() },
    [],
  ],
  [
    'a thin snapshot takes room in the pool of its Volume',
    { known: content({ note: thinNote }), of: thin },
    inPool(3n * GIB),
  ],
  [
    'a thin snapshot without its Volume is in the sums of LVM',
    { known: content({ note: thinNote }) },
    [],
  ],
])('copiesOf sizes the snapshot copies of a node: %s', (_, scene, expected) => {
  expect(copies(scene)).toEqual(expected);
});
