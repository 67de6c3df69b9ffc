import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { VolumeSnapshot } from '../../../src/api/snapshot.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { CONTENT, SNAPSHOT } from '../../support/snapshots.ts';

const OWN = 'volume.stowage.dev';
const IS_DEFAULT = { annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' } };
const classNamed = (name: string, { driver = OWN, metadata = {}, ...more } = {}) => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2029-12-31T19:00:00Z', ...metadata },
  driver,
  deletionPolicy: 'Delete',
  ...more,
});
const copying = classNamed('copying', {
  ...{ deletionPolicy: 'Retain', parameters: { frozenCopySeconds: '30' } },
} as object);
const classes = {
  'volumesnapshotclasses/fast': classNamed('fast', { metadata: IS_DEFAULT }),
  'volumesnapshotclasses/copying': copying,
  'volumesnapshotclasses/wrong': classNamed('wrong', { parameters: { x: 'y' } } as object),
  'volumesnapshotclasses/ceph': classNamed('ceph', {
    ...{ driver: 'rbd.csi.ceph.com', parameters: { x: 'y' } },
  } as object),
};
const fullName = (name: string) => `volumesnapshotclass.snapshot.storage.k8s.io/${name}`;
const deletions = ({ requests }: { requests: { what: string }[] }) =>
  requests.map(({ what }) => what).filter((what) => what.startsWith('delete'));

describe('get snapshotclasses', () => {
  test('shows the classes of Stowage', async () => {
    const { code, out } = await stowage(['get', 'vsclass'], { objects: classes });
    expect(code).toBe(0);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['NAME', 'DRIVER', 'DELETIONPOLICY', 'FROZENCOPY', 'AGE'],
      ['copying', OWN, 'Retain', '30s', '5h'],
      ['fast (default)', OWN, 'Delete', '<none>', '5h'],
      ['wrong', OWN, 'Delete', 'invalid', '5h'],
    ]);
  });

  test('shows any class that is named', async () => {
    const world = { objects: classes };
    const { out } = await stowage(['get', 'volumesnapshotclass/ceph', '--no-headers'], world);
    expect(out).toBe('ceph   rbd.csi.ceph.com   Delete   <none>   5h\n');
    const data = await stowage(['get', 'vsclass', 'copying', '-o', 'json'], world);
    expect(JSON.parse(data.out)).toEqual(copying);
  });

  test.each([
    [
      ['-l', 'a=b', '-o', 'name'],
      ['copying', 'fast', 'wrong'],
    ],
    [
      ['--sort-by', 'age', '-o', 'name'],
      ['copying', 'fast', 'wrong'],
    ],
    [
      ['wrong', 'fast', '-o', 'name'],
      ['fast', 'wrong'],
    ],
  ])('takes %j', async (argv: string[], names) => {
    const { out } = await stowage(['get', 'snapshotclasses', ...argv], { objects: classes });
    expect(out).toBe(names.map((name) => `${fullName(name)}\n`).join(''));
  });

  test('-w prints changes', async () => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const running = stowage(['get', 'vsclass', '-w', '-o', 'name'], {
      ...{ clock, signal: aborter.signal },
      *events() {
        const metadata = { resourceVersion: '2' };
        yield {
          type: 'ADDED',
          object: classNamed('others', { driver: 'x.example.com', metadata }),
        };
        yield { type: 'ADDED', object: classNamed('new', { metadata }) };
        aborter.abort(new SignalError('SIGINT'));
      },
    });
    while (!aborter.signal.aborted) await clock.advance(1000);
    expect(await running).toMatchObject({ code: 130, out: `${fullName('new')}\n` });
  });

  test('reports a cluster without snapshots', async () => {
    const failures = {
      'list volumesnapshotclasses/*': refusal(404, 'no such kind', { details: {} }),
    };
    const { code, err } = await stowage(['get', 'vsclass'], { failures });
    expect(code).toBe(3);
    expect(err).toContain('stowage install --components snapshot-crds');
  });
});

const snapshot = (spec: Partial<VolumeSnapshot['spec']>, status = {}, metadata = {}) => ({
  ...{ ...SNAPSHOT, spec: { ...SNAPSHOT.spec, ...spec }, status },
  metadata: { ...SNAPSHOT.metadata, ...metadata },
});
const ofFast = { volumeSnapshotClassName: 'fast' };
const waiting = snapshot(ofFast);
const takenBy = (volumeSnapshotClassName: string) => ({
  'volumesnapshots/s': snapshot({ volumeSnapshotClassName }),
  'volumesnapshotcontents/c': {
    ...CONTENT,
    spec: { ...CONTENT.spec, volumeSnapshotClassName },
    status: {},
  },
});
const deletionTimestamp = '2029-12-31T23:00:00Z';

describe('delete snapshotclass', () => {
  const remove = (argv: string[], objects: Record<string, KubeObject> = {}, world: World = {}) =>
    stowage(['delete', 'snapshotclass', ...argv], {
      objects: { ...classes, ...objects },
      ...world,
    });

  test.each<[string, string, VolumeSnapshot | undefined]>([
    ['nothing uses', 'fast', undefined],
    ['a deleted snapshot named', 'fast', snapshot(ofFast, {}, { deletionTimestamp })],
    ['another snapshot waits for', 'copying', waiting],
    [
      'a snapshot with given content names',
      'fast',
      snapshot({ ...ofFast, source: { volumeSnapshotContentName: 'c' } }),
    ],
    ['a snapshot without a class may get', 'fast', snapshot({})],
    [
      'a snapshot with a lost content names',
      'fast',
      snapshot(ofFast, { boundVolumeSnapshotContentName: 'c' }),
    ],
    ['a ready snapshot names', 'fast', snapshot(ofFast, { readyToUse: true })],
    ['is of another driver', 'ceph', undefined],
  ])('deletes a class that %s, by its UID', async (_, name, found) => {
    const { code, out, requests } = await remove([name], found && { 'volumesnapshots/s': found });
    expect({ code, out }).toEqual({ code: 0, out: `${fullName(name)} deleted\n` });
    expect(requests.at(-1)).toMatchObject({
      what: `delete volumesnapshotclasses/${name}`,
      options: { uid: `uid-${name}` },
    });
  });

  test.each<[string, string, Record<string, KubeObject>]>([
    ['has no content', 'fast', { 'volumesnapshots/s': waiting }],
    ['is being copied while its volume is frozen', 'copying', takenBy('copying')],
  ])('refuses a class that a snapshot needs: it %s', async (_, name, objects) => {
    const outcome = await remove([name], objects);
    expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
      code: 5,
      deletions: [],
    });
    expect(outcome.err).toBe(
      `error: VolumeSnapshotClass ${name} cannot be deleted: VolumeSnapshot prod/foo-backup is not taken yet and needs it\n` +
        'hint: Wait until it is ready, or see why prod/foo-backup is not: stowage why snapshot prod/foo-backup\n',
    );
  });

  test('names one of several snapshots that need the class', async () => {
    const other = { ...waiting, metadata: { ...waiting.metadata, name: 'another', uid: 'u2' } };
    const { err } = await remove(['fast'], {
      'volumesnapshots/s': waiting,
      'volumesnapshots/t': other,
    });
    expect(err).toContain('VolumeSnapshots prod/another and 1 more are not taken yet and need it');
  });

  test('notes how many snapshots stay, with their deletion policy', async () => {
    const { code, err } = await remove(['fast'], takenBy('fast'));
    expect({ code, err }).toEqual({
      code: 0,
      err: 'note: VolumeSnapshotClass fast: 1 snapshot stays, with its deletion policy\n',
    });
    expect((await remove(['fast', '-o', 'name'], takenBy('fast'))).err).toBe('');
  });

  test.each([
    ['volumesnapshots', ['fast']],
    ['volumesnapshots', ['--all']],
    ['volumesnapshotcontents', ['fast']],
  ])('without the right to list %s, it refuses %j', async (plural, argv) => {
    const failures = { [`list ${plural}/*`]: refusal(403, `${plural} is forbidden`) };
    const outcome = await remove(argv, {}, { failures });
    expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
      code: 4,
      deletions: [],
    });
    expect(outcome.err).toBe(
      `error: It is unknown whether a VolumeSnapshotClass is needed: ${plural} is forbidden\n` +
        'hint: Request that right, or delete a class that nothing needs: kubectl delete volumesnapshotclass NAME\n',
    );
  });

  test.each([[['--all']], [['-l', 'a=b']]])('%j deletes classes of Stowage', async (flags) => {
    const outcome = await remove(flags, { 'volumesnapshots/s': waiting });
    expect(outcome.code).toBe(7);
    expect(deletions(outcome)).toEqual([
      'delete volumesnapshotclasses/copying',
      'delete volumesnapshotclasses/wrong',
    ]);
  });

  test.each([[[]], [['a', '--all']], [['--all', '-l', 'x']], [['-l', '']], [['--selector= ']]])(
    '%j is wrong usage',
    async (argv: string[]) => {
      expect(await remove(argv, {})).toMatchObject({ code: 2, requests: [] });
    },
  );

  test('--all deletes nothing of a cluster without snapshots', async () => {
    const missing = refusal(404, 'no such kind', { details: {} });
    const failures = {
      'list volumesnapshotclasses/*': missing,
      'list volumesnapshots/*': missing,
      'list volumesnapshotcontents/*': missing,
    };
    const { code, err } = await stowage(['delete', 'vsclass', '--all'], { failures });
    expect(code).toBe(3);
    expect(err).toContain('This cluster has no VolumeSnapshots');
  });

  describe('on a terminal', () => {
    test.each([
      [
        ['fast'],
        'VolumeSnapshotClass fast: it is the default, which snapshots without a class get\n',
      ],
      [
        ['-l', 'a=b'],
        'VolumeSnapshotClass fast: new snapshots that name it wait until it is created again; it is the default, which snapshots without a class get\nVolumeSnapshotClass copying: new snapshots that name it wait until it is created again\nVolumeSnapshotClass wrong: new snapshots that name it wait until it is created again\n',
      ],
    ])('%j names what no longer works, and asks', async (argv: string[], losses) => {
      const outcome = await remove(argv, {}, { tty: true, answers: [false] });
      expect({ code: outcome.code, questions: outcome.questions }).toEqual({
        code: 5,
        questions: ['Delete snapshot classes?'],
      });
      expect(outcome.err.startsWith(losses)).toBe(true);
      expect(deletions(outcome)).toEqual([]);
      expect(await remove([...argv, '--yes'], {}, { tty: true })).toMatchObject({
        ...{ code: 0, questions: [] },
      });
    });

    test('does not ask for a named class that is no default', async () => {
      expect(await remove(['copying'], {}, { tty: true })).toMatchObject({
        ...{ code: 0, questions: [] },
      });
    });

    test('refuses a class that a snapshot needs since the question', async () => {
      const objects: Record<string, KubeObject> = { ...classes };
      const outcome = await stowage(['delete', 'vsclass', 'fast'], {
        ...{ objects, tty: true, answers: [true] },
        onQuestion: () => Object.assign(objects, { 'volumesnapshots/s': waiting }),
      });
      expect({ code: outcome.code, deletions: deletions(outcome) }).toEqual({
        ...{ code: 5, deletions: [] },
      });
    });
  });
});
