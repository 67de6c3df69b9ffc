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

  test.each([
    [{ 'csi.storage.k8s.io/fstype': 'xfs' }, 'xfs'],
    [{ FsType: 'xfs' }, 'xfs'],
    [{ fsType: 'ext4', 'csi.storage.k8s.io/fstype': 'xfs' }, 'invalid'],
  ])('shows the file system that parameters %j state', async (parameters, shown) => {
    const only = { 'storageclasses/c': classNamed('c', STOWAGE, parameters) };
    const { out } = await stowage(['get', 'sc'], { objects: only });
    expect(out.split('\n')[1]?.split(/ {2,}/)[3]).toBe(shown);
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

describe('delete storageclass of several', () => {
  const deletions = ({ requests }: { requests: { what: string }[] }) =>
    requests.map(({ what }) => what).filter((what) => what.startsWith('delete'));

  test.each([
    ['--all', undefined],
    ['--selector=app=db', 'app=db'],
  ])('%s deletes the listed classes that Volumes can have', async (flag, labelSelector) => {
    const waiting = { 'volumes/a': volumeNamed('a') };
    const world = { objects: { ...objects, ...waiting } };
    const outcome = await stowage(['delete', 'sc', flag], world);
    expect(outcome.code).toBe(7);
    expect(outcome.err).toContain('Storage class fast cannot be deleted: Volume a is not');
    expect(outcome.requests).toContainEqual({
      what: 'list storageclasses/*',
      options: expect.objectContaining({ labelSelector }),
    });
    expect(deletions(outcome)).toEqual([
      'delete storageclasses/files',
      'delete storageclasses/thin',
      'delete storageclasses/wrong',
    ]);
  });

  describe('without a provisioner', () => {
    const disks = classNamed('disks', 'kubernetes.io/no-provisioner');
    const foreign = pvOf({ ...volumeNamed('pv'), metadata: { name: 'pv' } });
    const ofDisks = (pv: typeof foreign) => ({
      ...pv,
      metadata: { name: pv.metadata.name },
      spec: { ...pv.spec, storageClassName: 'disks' },
    });
    const volume = volumeNamed('a', { phase: 'Available' });
    const ofVolume = { ...volume, spec: { ...volume.spec, storageClassName: 'disks' } };

    test.each([
      ['without PersistentVolumes', ['--all'], {}, false],
      ['without a Volume, but named', ['disks'], {}, true],
      [
        'with a Volume',
        ['--all'],
        { 'volumes/a': ofVolume, 'persistentvolumes/a': pvOf(ofVolume) },
        true,
      ],
      [
        'with PersistentVolumes of others',
        ['--all'],
        { 'persistentvolumes/pv': ofDisks(foreign) },
        false,
      ],
      [
        'with PersistentVolumes of others, but named',
        ['disks'],
        { 'persistentvolumes/pv': ofDisks(foreign) },
        true,
      ],
    ])('a class %s is deleted only if it serves Volumes: %j', async (_, argv, more, deleted) => {
      const world = { objects: { 'storageclasses/disks': disks, ...more } };
      const outcome = await stowage(['delete', 'sc', ...argv], world);
      expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
        code: 0,
        deletions: deleted ? ['delete storageclasses/disks'] : [],
      });
      if (!deleted)
        expect(outcome.err).toBe(
          "note: StorageClass disks is not deleted unless it is named: no Volume names it, so it may be another provisioner's\nNo storage classes of Volumes found\n",
        );
    });
  });

  test.each([
    ['volumes', ['--all'], []],
    ['volumes', ['files'], []],
    ['persistentvolumes', ['--all'], ['files', 'thin', 'wrong']],
    ['persistentvolumes', ['fast'], []],
  ])(
    'without the right to list %s, no class that may be needed is deleted: %j',
    async (kind, argv, deleted) => {
      const failures = { [`list ${kind}/*`]: refusal(403, `${kind} is forbidden`) };
      const of = { 'volumes/a': volumeNamed('a', { phase: 'Available' }) };
      const world = { objects: { ...objects, ...of }, failures };
      const outcome = await stowage(['delete', 'sc', ...argv], world);
      expect(deletions(outcome)).toEqual(deleted.map((name) => `delete storageclasses/${name}`));
      expect(outcome.code).toBe(deleted.length > 0 ? 7 : 4);
      expect(outcome.err).toContain(
        `error: It is unknown whether a StorageClass is needed: ${kind} is forbidden\nhint: `,
      );
    },
  );

  test('a dynamic class is deleted with --all, even if its only PersistentVolume was kept', async () => {
    const kept = pvOf(volumeNamed('kept'));
    const pv = { ...kept, spec: { ...kept.spec, storageClassName: 'files' } };
    const world = { objects: { 'storageclasses/files': objects['storageclasses/files'] } };
    Object.assign(world.objects, { 'persistentvolumes/kept': pv });
    expect(deletions(await stowage(['delete', 'sc', '--all'], world))).toEqual([
      'delete storageclasses/files',
    ]);
  });

  test('a class that is being deleted is left out, and data is an empty List', async () => {
    const going = classNamed('fast', STOWAGE, {}, { deletionTimestamp: '2029-12-31T20:00:00Z' });
    const world = { objects: { 'storageclasses/fast': going } };
    const outcome = await stowage(['delete', 'sc', '--all', '-o', 'json'], world);
    expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
      ...{ code: 0, deletions: [] },
    });
    expect(JSON.parse(outcome.out)).toMatchObject({ kind: 'List', items: [] });
  });

  test('a class that others delete meanwhile is no error', async () => {
    const failures = {
      'delete storageclasses/files': refusal(404, 'gone', { details: { name: 'files' } }),
    };
    const { code, out } = await stowage(['delete', 'sc', '--all'], { objects, failures });
    expect(code).toBe(0);
    expect(out).not.toContain('/files deleted');
  });

  test.each([[[]], [['a', '--all']], [['a', '-l', 'x']], [['-l', ' ']], [['--selector=']]])(
    'delete storageclass %j is wrong usage',
    async (argv: string[]) => {
      expect(await stowage(['delete', 'sc', ...argv], { objects })).toMatchObject({
        ...{ code: 2, requests: [] },
      });
    },
  );

  test('on a terminal, it names what waits without the classes, and asks', async () => {
    const volume = volumeNamed('a', { phase: 'Available' });
    const used = { ...objects, 'volumes/a': volume, 'persistentvolumes/a': pvOf(volume) };
    const world = { objects: used, tty: true, answers: [false] };
    const outcome = await stowage(['delete', 'sc', '--all'], world);
    expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
      ...{ code: 5, deletions: [] },
    });
    expect(outcome.err).toMatch(
      /^StorageClass fast: new Volumes that name it wait until it is created again\nStorageClass files: new claims that name it wait until it is created again; it is the default, which claims without a class get\n/,
    );
    const agreed = await stowage(['delete', 'sc', '--all'], { ...world, answers: [true] });
    expect({ code: agreed.code, count: deletions(agreed).length }).toEqual({ code: 0, count: 4 });
    expect(await stowage(['delete', 'sc', 'fast'], { objects, tty: true })).toMatchObject({
      ...{ code: 0, questions: [] },
    });
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
