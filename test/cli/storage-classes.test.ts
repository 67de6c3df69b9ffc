import { describe, expect, test } from '@jest/globals';
import { stowage } from '../support/fake-io.ts';
import { refusal } from '../support/refusals.ts';
import { pvOf, volumeNamed } from '../support/volumes.ts';

const classNamed = (name: string, provisioner: string, parameters = {}, more = {}) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2029-12-31T19:00:00Z', ...more },
  provisioner,
  parameters,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
});
const STOWAGE = 'volume.stowage.dev';
const IS_DEFAULT = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };
const objects = {
  'storageclasses/odd': classNamed('odd', 'constructor'),
  'storageclasses/fast': classNamed('fast', 'kubernetes.io/no-provisioner', { fsType: 'xfs' }),
  'storageclasses/files': classNamed('files', STOWAGE, { directory: '/srv/v' }, IS_DEFAULT),
  'storageclasses/thin': classNamed('thin', STOWAGE, { type: 'lvm', vgName: 'vg0', thinPool: 'p' }),
  'storageclasses/wrong': classNamed('wrong', STOWAGE, { nonsense: 'x' }),
  'storageclasses/rbd': classNamed('rbd', 'rbd.csi.ceph.com'),
};

describe('get storageclasses', () => {
  test('shows the classes that Volumes can have', async () => {
    const { code, out } = await stowage(['get', 'sc'], { objects });
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/).slice(0, 4)),
    ).toEqual([
      ['NAME', 'KIND', 'STORAGE', 'FSTYPE'],
      ['fast', 'static', '<none>', 'xfs'],
      ['files (default)', 'dynamic', '/srv/v', '<none>'],
      ['thin', 'dynamic', 'vg0/p', '<none>'],
      ['wrong', 'dynamic', 'invalid', '<none>'],
    ]);
  });

  test('shows any class that is named', async () => {
    const { out } = await stowage(['get', 'storageclass/rbd', '-o', 'name'], { objects });
    expect(out).toBe('storageclass.storage.k8s.io/rbd\n');
  });
});

describe('delete storageclass', () => {
  const waiting = { 'volumes/a': volumeNamed('a'), 'volumes/b': volumeNamed('b') };

  test.each([
    ['has a PersistentVolume', volumeNamed('a', { phase: 'Available' }), true],
    [
      'failed, and may wait for another class of the name',
      volumeNamed('a', { phase: 'Failed' }),
      false,
    ],
  ])('deletes a class whose Volume %s', async (_, volume, hasPv) => {
    const pv = hasPv ? { 'persistentvolumes/a': pvOf(volume, 'Bound') } : {};
    const world = { objects: { ...objects, 'volumes/a': volume, ...pv } };
    const { code, out, requests } = await stowage(['delete', 'storageclass', 'fast'], world);
    expect({ code, out }).toEqual({ code: 0, out: 'storageclass.storage.k8s.io/fast deleted\n' });
    expect(requests.at(-1)).toMatchObject({
      what: 'delete storageclasses/fast',
      options: { uid: 'uid-fast' },
    });
  });

  test('refuses the class of a prepared Volume without a PersistentVolume', async () => {
    const prepared = { node: 'n1', paths: [], identity: '' };
    const world = {
      objects: { ...objects, 'volumes/a': volumeNamed('a', { phase: 'Pending', prepared }) },
    };
    expect(await stowage(['delete', 'sc', 'fast'], world)).toMatchObject({ code: 5 });
  });

  test('deletes a class if the cluster has no Volume CRD', async () => {
    const failures = { 'list volumes/*': refusal(404, 'no such kind', { details: {} }) };
    expect(await stowage(['delete', 'sc', 'fast'], { objects, failures })).toMatchObject({
      code: 0,
    });
  });

  test('refuses a class that a Volume still needs', async () => {
    const world = { objects: { ...objects, ...waiting } };
    const { code, err, requests } = await stowage(['delete', 'sc', 'fast', 'thin'], world);
    expect(code).toBe(7);
    expect(err).toContain(
      'Storage class fast cannot be deleted: Volumes a and 1 more are not provisioned yet and need it',
    );
    expect(requests.map(({ what }) => what)).not.toContain('delete storageclasses/fast');
  });

  test('--ignore-not-found accepts a missing class', async () => {
    expect(await stowage(['delete', 'sc', 'x'], { objects })).toMatchObject({ code: 3 });
    const { code, err } = await stowage(['delete', 'sc', 'x', '--ignore-not-found'], { objects });
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});

describe('create snapshotclass', () => {
  const created = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: { name: 'fast' },
    driver: STOWAGE,
    deletionPolicy: 'Delete',
  };

  test.each([
    [[], created],
    [['--deletion-policy=Retain'], { ...created, deletionPolicy: 'Retain' }],
    [
      ['--default'],
      {
        ...created,
        metadata: {
          name: 'fast',
          annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
        },
      },
    ],
  ])('creates the class that the flags describe: %j', async (flags, object) => {
    const { code, out, requests } = await stowage(['create', 'snapshotclass', 'fast', ...flags]);
    expect({ code, out }).toEqual({
      code: 0,
      out: 'volumesnapshotclass.snapshot.storage.k8s.io/fast created\n',
    });
    expect(requests.at(-1)).toMatchObject({ what: 'create volumesnapshotclasses/fast' });
    expect(requests.at(-1)?.object).toEqual(object);
  });

  test('a second default class is refused: snapshots without a class would fail', async () => {
    const first = {
      ...created,
      metadata: {
        name: 'first',
        annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
      },
    };
    const world = { objects: { 'volumesnapshotclasses/first': first } };
    const { code, err } = await stowage(['create', 'snapshotclass', 'fast', '--default'], world);
    expect(code).toBe(5);
    expect(err).toContain(
      'hint: To remove the default: kubectl annotate volumesnapshotclass first snapshot.storage.kubernetes.io/is-default-class-',
    );
    expect(await stowage(['create', 'snapshotclass', 'fast'], world)).toMatchObject({ code: 0 });
  });

  test('reports a cluster without snapshots', async () => {
    const failures = {
      'create volumesnapshotclasses/fast': refusal(404, 'no such kind', { details: {} }),
    };
    const { code, err } = await stowage(['create', 'vsclass', 'fast'], { failures });
    expect(code).toBe(3);
    expect(err).toContain('stowage install --components snapshot-crds');
  });

  test('--dry-run=client needs no cluster', async () => {
    const { code, requests } = await stowage([
      ...['create', 'snapshotclass', 'fast', '--dry-run=client'],
    ]);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
  });
});
