import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import { placesOf, roomNote } from '../../../src/cli/volume/room-note.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import {
  EMPTY_NODE,
  type FakeNodeAnswers,
  fakeExecutor,
  result,
} from '../../support/fake-executor.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { lvRow, report, vgRow, viewAnswers } from '../../support/lvm-reports.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, volumeNamed } from '../../support/volumes.ts';
import { withFree } from '../node/get/cluster-nodes.ts';

const GIB = 1024 ** 3;
const DIRECTORY = '/var/lib/metalk8s/storage/sparse';
const CREATE = ['create', 'volume', 'data1', '--node', 'n1', '--storage-class', 'fast'];
const BIG = [...CREATE, '--size', '200Gi'];
const NOTE = `note: Volumes may take 201Gi more on the file system of ${DIRECTORY} on node n1, which has 67Gi free\n`;

/** Returns a node with an empty directory for files. `gib`: its free space. */
const nodeWith = (gib: number, more: FakeNodeAnswers['probes'] = {}): FakeNodeAnswers => ({
  probes: { ...EMPTY_NODE, ...withFree(gib * GIB).probes, ...more },
});
const world = (more: World = {}): World => ({
  tty: true,
  executor: fakeExecutor({ n1: nodeWith(67) }),
  objects: {
    'nodes/n1': nodeNamed('n1'),
    'storageclasses/fast': classNamed('fast'),
    'volumes/other': volumeNamed('other'),
    'volumes/elsewhere': volumeOn('elsewhere', 'n2'),
  },
  ...more,
});
const volumeOn = (name: string, nodeName: string): Volume => ({
  ...volumeNamed(name),
  spec: { ...volumeNamed(name).spec, nodeName },
});

const GI = 1n << 30n;
const DIR = { type: 'sparse', directory: '/d' } as const;
const POOL = { type: 'lvm', vgName: 'vg0', thinPool: 'pool' } as const;
test.each<[typeof DIR | typeof POOL, bigint, bigint, string | undefined]>([
  [DIR, 66n * GI, 67n * GI, undefined],
  [DIR, 67n * GI, 67n * GI, undefined],
  [
    DIR,
    200n * GI,
    67n * GI,
    'Volumes may take 200Gi more on the file system of /d on node n1, which has 67Gi free',
  ],
  [
    DIR,
    67n * GI + 1n,
    67n * GI,
    'Volumes may take 71940702209 bytes more on the file system of /d on node n1, which has 71940702208 bytes free',
  ],
  [POOL, 4n * GI, 4n * GI, undefined],
  [
    POOL,
    5n * GI,
    4n * GI,
    'the volumes of the thin pool vg0/pool on node n1 have a total size of 5Gi, and the pool has 4Gi',
  ],
])('the note about %j with %s promised of %s is %j', (place, promised, existing, note) => {
  const sizes = { promisedBytes: promised, existingBytes: existing };
  expect(roomNote('n1', place, sizes)).toBe(note);
});

test('only directories and thin pools can be promised beyond their space', () => {
  const of = (spec: Partial<Volume['spec']>): Volume => ({
    ...volumeNamed('x'),
    spec: { nodeName: 'n1', storageClassName: 'fast', ...spec },
  });
  const size = '1Gi';
  expect(
    placesOf([
      of({ sparseLoopDevice: { size } }),
      of({ sparseLoopDevice: { size } }),
      of({ sparseLoopDevice: { size, directory: '/adopted' }, adopt: { uid: 'u' } }),
      of({ lvmLogicalVolume: { vgName: 'vg0', size } }),
      of({ lvmLogicalVolume: { vgName: 'vg0', thinPool: 'pool', size } }),
      of({ rawBlockDevice: { devicePath: '/dev/sdb' } }),
    ]),
  ).toEqual([
    { node: 'n1', place: { type: 'sparse', directory: DIRECTORY } },
    { node: 'n1', place: POOL },
  ]);
});

describe('create volume --dry-run=plan', () => {
  const plan = (more: World = {}, size = '200Gi', extra: string[] = []) =>
    stowage(
      [...CREATE, '--size', size, '--dry-run=plan', ...extra],
      world({ tty: false, ...more }),
    );

  test.each([[[]], [['-o', 'json']]])(
    'reports it on standard error alone, with %j',
    async (more) => {
      const executor = fakeExecutor({ n1: nodeWith(67) });
      const { code, out, err } = await plan({ executor }, '200Gi', more);
      expect({ code, err }).toEqual({ code: 0, err: NOTE });
      expect(out).not.toContain('may take');
      expect(executor.closed).toBe(true);
    },
  );

  test('reports nothing while there is room', async () => {
    expect(await plan({}, '66Gi')).toMatchObject({ code: 0, err: '' });
  });

  test('counts an existing Volume of the name once', async () => {
    const objects = { ...world().objects, 'volumes/data1': volumeNamed('data1') };
    expect(await plan({ objects })).toMatchObject({ code: 0, err: NOTE });
  });

  test('names a thin pool', async () => {
    const thin = lvRow({ lv_name: 'old', lv_size: String(3 * GIB), pool_lv: 'pool' });
    const pool = lvRow({
      ...{ lv_name: 'pool', lv_attr: 'twi-aotz--', lv_size: String(4 * GIB), lv_tags: '' },
      ...{ data_percent: '1', metadata_percent: '1', lv_layout: 'thin,pool' },
    });
    const n1 = {
      probes: {
        ...EMPTY_NODE,
        ...Object.fromEntries(viewAnswers),
        boot: result(0, '00000000-0000-4000-8000-000000000001'),
        ...{ groups: report('vg', vgRow()), disks: report('pv', { vg_uuid: '', pv_name: '' }) },
        'logical volumes': report('lv', thin, pool),
      },
    };
    const argv = [...CREATE, '--vg', 'vg0', '--thin-pool', 'pool', '--size', '2Gi'];
    const { code, err } = await stowage(
      [...argv, '--dry-run=plan'],
      world({ executor: fakeExecutor({ n1 }) }),
    );
    expect({ code, err }).toEqual({
      code: 0,
      err: 'note: the volumes of the thin pool vg0/pool on node n1 have a total size of 5Gi, and the pool has 4Gi\n',
    });
  });

  test('reports nothing if the directory cannot be read', async () => {
    const denied = result(1, '', 'find: Permission denied');
    const executor = fakeExecutor({ n1: nodeWith(67, { [`files ${DIRECTORY}`]: denied }) });
    expect(await plan({ executor })).toMatchObject({ code: 0, err: '' });
  });

  test('counts the new Volume alone without the right to list others', async () => {
    const failures = { 'list volumes/*': refusal(403, 'no', { reason: 'Forbidden' }) };
    const { code, err } = await plan({ failures });
    expect({ code, err }).toEqual({ code: 0, err: NOTE.replace('201Gi', '200Gi') });
  });

  test('reports nothing about a refused Volume', async () => {
    const file = `${DIRECTORY}/00000000-0000-4000-8000-000000000000`;
    const n1 = nodeWith(67, { file: result(0, 'regular file|4096|9|8|512'), readable: result(0) });
    const { code, err } = await plan({ executor: fakeExecutor({ n1 }) });
    expect(code).toBe(5);
    expect(err).toContain(`${file} already exists`);
    expect(err).not.toContain('note: ');
  });

  test('reports ten of many notes, and counts the rest', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index + 1}`);
    const { err } = await stowage(
      [...CREATE.with(4, 'n{1..12}'), '--size', '200Gi', '--dry-run=plan'],
      world({ executor: fakeExecutor(Object.fromEntries(names.map((n) => [n, nodeWith(67)]))) }),
    );
    expect(err.match(/^note: Volumes may take/gm)).toHaveLength(10);
    expect(err).toContain('note: … and 2 more of these notes\n');
  });
});

describe('create volume', () => {
  test('shows the note in the summary, and not again', async () => {
    const { code, err } = await stowage(
      [...CREATE.slice(0, -2), '--size', '200Gi'],
      world({ answers: ['fast', true] }),
    );
    expect(code).toBe(0);
    expect(err).toContain('\nNotes:\n  Volumes may take 201Gi more on the file system of ');
    expect(err.match(/may take/g)).toHaveLength(1);
  });

  test('shows no empty notes in the summary', async () => {
    const { code, err } = await stowage(
      [...CREATE.slice(0, -2), '--size', '66Gi'],
      world({ answers: ['fast', true] }),
    );
    expect(code).toBe(0);
    expect(err).not.toContain('Notes:');
  });

  test.each([
    ['on a terminal', true, []],
    ['without one', false, []],
    ['as data', true, ['-o', 'json']],
    ['in a dry run of the server', true, ['--dry-run=server']],
    ['in a dry run of the client', true, ['--dry-run=client']],
  ])('reaches no node if nothing is missing, %s', async (_, tty, more) => {
    const { code, err, nodesAs, requests } = await stowage([...BIG, ...more], world({ tty }));
    expect({ code, err, nodesAs }).toEqual({ code: 0, err: '', nodesAs: undefined });
    expect(requests.filter(({ what }) => what !== 'create volumes/data1')).toEqual([]);
  });
});
