import { expect, test } from '@jest/globals';
import type { VolumeSnapshotContent } from '../../../src/api/snapshot.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { readSource } from '../../../src/controllers/volume/source.ts';
import { given, prepared } from '../../support/decisions.ts';
import { UID, volume } from '../../support/volume-input.ts';

const FILE = `/d/snapshots/${UID}`;

const content = (
  status: VolumeSnapshotContent['status'] = {
    readyToUse: true,
    snapshotHandle: `file:n1,n2:${FILE}`,
  },
  more: Partial<VolumeSnapshotContent['spec']> = {},
): VolumeSnapshotContent => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name: 'c' },
  spec: {
    volumeSnapshotRef: {},
    deletionPolicy: 'Delete',
    driver: 'volume.stowage.dev',
    source: { volumeHandle: 'data0' },
    ...more,
  },
  ...(status && { status }),
});

const read = (
  source: NonNullable<Volume['spec']['source']>,
  objects: {
    content?: VolumeSnapshotContent;
    volume?: Volume;
    /** Spec of the Volume to provision. */
    spec?: object;
  } = {},
  node = 'n1',
) => {
  const asked = { ...volume(), spec: { ...volume().spec, ...(objects.spec ?? {}), source } };
  const contentNamed = async (name: string) => (name === 'c' ? objects.content : undefined);
  const volumeNamed = async (name: string) => (name === 'data0' ? objects.volume : undefined);
  const secret = async () => ({ problem: 'a secret' });
  return readSource(asked, node, { content: contentNamed, volume: volumeNamed, secret });
};

const fromContent = { snapshotContentName: 'c' };
const fromVolume = { volumeName: 'data0' };
const made = volume({ prepared });

test('the source of a snapshot is its file, on any node that has it', async () => {
  const from = { file: FILE, mode: 'Filesystem', what: 'snapshot' };
  expect(await read(fromContent, { content: content() }, 'n2')).toEqual({ from });
  const block = content(undefined, { sourceVolumeMode: 'Block' });
  expect(await read(fromContent, { content: block })).toEqual({ from: { ...from, mode: 'Block' } });
});

test('a pre-provisioned snapshot has its handle in the spec', async () => {
  const known = content({ readyToUse: true }, { source: { snapshotHandle: `file:n1:${FILE}` } });
  expect(await read(fromContent, { content: known })).toMatchObject({ from: { file: FILE } });
});

test('a replaced source of the same name is refused', async () => {
  const known = { ...content(), metadata: { name: 'c', uid: UID } };
  expect(await read({ ...fromContent, uid: UID }, { content: known })).toMatchObject({
    from: { file: FILE },
  });
  expect(await read({ ...fromContent, uid: 'another' }, { content: known })).toEqual({
    problem: expect.stringContaining(
      'VolumeSnapshotContent c was replaced by another one of that name',
    ),
  });
  const { uid = '' } = made.metadata;
  expect(await read({ ...fromVolume, uid }, { volume: made })).toHaveProperty('from');
  expect(await read({ ...fromVolume, uid: 'another' }, { volume: made })).toEqual({
    problem: expect.stringContaining('Volume data0 was replaced by another one of that name'),
  });
});

test('the source of a volume is its file', async () => {
  const [file] = prepared.paths;
  expect(await read(fromVolume, { volume: made })).toEqual({
    from: { file, mode: 'Filesystem', what: 'volume', freeze: { seconds: 10, copy: false } },
  });
});

test('a read-only volume shared by nodes is copied on any of them', async () => {
  const template = { spec: { accessModes: ['ReadOnlyMany'] } };
  const volume = {
    ...made,
    spec: { ...made.spec, template, attachableNodes: ['n1', 'n2'] },
  } as Volume;
  expect(await read(fromVolume, { volume }, 'n2')).toHaveProperty('from');
});

const lvm = (thinPool?: string) => ({
  sparseLoopDevice: undefined,
  lvmLogicalVolume: { vgName: 'vg0', size: '1Gi', ...(thinPool && { thinPool }) },
});
const inPool = { spec: lvm('pool') };
const snap = content({ readyToUse: true, snapshotHandle: `lvm:n1:vg0/snap-${UID}` });
const thinVolume = { ...made, spec: { ...made.spec, ...lvm('pool') } } as unknown as Volume;

test('the source of a thin volume is identified by its UID', async () => {
  const from = {
    what: 'snapshot',
    mode: 'Filesystem',
    vgName: 'vg0',
    name: `snap-${UID}`,
    uid: UID,
  };
  expect(await read(fromContent, { ...inPool, content: snap })).toEqual({ from });
  expect(await read(fromVolume, { ...inPool, volume: thinVolume })).toEqual({
    from: { ...from, what: 'volume', name: 'data1' },
  });
});

test.each<[string, Parameters<typeof read>, string]>([
  [
    'a logical volume outside a thin pool',
    [fromContent, { spec: lvm(), content: snap }],
    'only thin volumes can be created from another',
  ],
  [
    'a file, for a logical volume',
    [fromContent, { ...inPool, content: content() }],
    `is the file ${FILE}`,
  ],
  [
    'a file of a Volume, for a logical volume',
    [fromVolume, { ...inPool, volume: made }],
    'is the file /',
  ],
  [
    'a thin volume, for a file',
    [fromVolume, { volume: thinVolume }],
    'a sparse file can only be created from a file',
  ],
  [
    'a snapshot of a thin volume elsewhere',
    [fromContent, { ...inPool, content: snap }, 'n2'],
    'is on node n1',
  ],
  [
    'a raw device',
    [
      fromVolume,
      {
        ...inPool,
        volume: {
          ...made,
          spec: {
            ...made.spec,
            sparseLoopDevice: undefined,
            rawBlockDevice: { devicePath: '/dev/sdb' },
          },
        } as unknown as Volume,
      },
    ],
    'which cannot be a source',
  ],
  ['a content that is gone', [fromContent], 'VolumeSnapshotContent c does not exist'],
  [
    'a content that is not ready',
    [fromContent, { content: content({ snapshotHandle: 'x' }) }],
    'is not ready to use',
  ],
  [
    'a content that names another file',
    [
      fromContent,
      { content: content({ readyToUse: true, snapshotHandle: 'file:n1:/etc/shadow' }) },
    ],
    'the path must end in /snapshots/UID',
  ],
  [
    'a logical volume',
    [
      fromContent,
      { content: content({ readyToUse: true, snapshotHandle: `lvm:n1:vg0/snap-${UID}` }) },
    ],
    'a sparse file can only be created from a file',
  ],
  [
    'a snapshot elsewhere',
    [fromContent, { content: content() }, 'n3'],
    'is on node n1, n2, but this Volume is on node n3',
  ],
  ['a Volume that is gone', [fromVolume], 'Volume data0 does not exist'],
  ['a Volume that is not provisioned', [fromVolume, given({})], 'is not provisioned yet'],
  [
    'a Volume that another node may write',
    [
      fromVolume,
      { volume: { ...made, spec: { ...made.spec, attachableNodes: ['n1', 'n2'] } } as Volume },
    ],
    'in a directory that several nodes share, and such volumes cannot be cloned',
  ],
  ['a Volume elsewhere', [fromVolume, { volume: made }, 'n3'], 'but this Volume is on node n3'],
  [
    'a Volume that is being deleted',
    [fromVolume, given({ prepared }, { metadata: { deletionTimestamp: '2026-01-02T03:00:00Z' } })],
    'Volume data0 is being deleted',
  ],
])('nothing is made from %s', async (_, args, problem) => {
  expect(await read(...args)).toEqual({ problem: expect.stringContaining(problem) });
});

test.each([
  ['prod', 'prod'],
  ['prod\nBearer x', undefined],
  [undefined, undefined],
])('a fill counts against the namespace of its claim: %j', async (namespace, taken) => {
  const populator = { builtin: 'Image', namespace: 'images', name: 'debian', options: {} };
  const template = { spec: { claimRef: { namespace } } };
  expect(await read({ populator } as never, { spec: { template } })).toMatchObject({
    fill: { namespace: taken },
  });
});
