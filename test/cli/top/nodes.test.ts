import { expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { fakeExecutor } from '../../support/fake-executor.ts';
import type { World } from '../../support/fake-io.ts';
import {
  diskRow,
  lvRow,
  report,
  segmentRow,
  vgRow,
  viewAnswers,
} from '../../support/lvm-reports.ts';
import { expectSchema } from '../../support/output-page.ts';
import { refusal } from '../../support/refusals.ts';
import { DIRECTORY, data1, GIB, made, nodeWith, top, uidOf } from './top-scene.ts';

const thin = { vgName: 'vg0', thinPool: 'pool', size: '6Gi' };
const thick = { vgName: 'vg0', size: '1Gi' };
const onNode2 = { nodeName: 'n2' };
const pool = lvRow({
  ...{ lv_name: 'pool', lv_uuid: 'p', lv_attr: 'twi-aotz--', lv_tags: '' },
  ...{ lv_size: String(4 * GIB), data_percent: '25.00' },
});
const thinRow = lvRow({
  ...{ lv_name: 't', lv_uuid: 't', lv_attr: 'Vwi-aotz--', pool_lv: 'pool', data_percent: '50.00' },
  ...{ lv_size: String(6 * GIB), lv_tags: `stowage.dev/uid=${uidOf(2)}` },
});
const thickRow = lvRow({ lv_name: 'k', lv_uuid: 'k', lv_tags: `stowage.dev/uid=${uidOf(3)}` });

/** Volume that is not provisioned yet. */
const requested: Volume = { ...made('new', 4), status: {} };

const world = (more: World = {}): World => ({
  objects: {
    'nodes/n1': nodeNamed('n1'),
    'nodes/n2': nodeNamed('n2'),
    'nodes/n3': nodeNamed('n3'),
    'volumes/data1': data1,
    'volumes/new': requested,
    'volumes/t': made('t', 2, { ...onNode2, lvmLogicalVolume: thin }),
    'volumes/k': made('k', 3, { ...onNode2, lvmLogicalVolume: thick }),
    'volumes/disk': made('disk', 5, { ...onNode2, rawBlockDevice: { devicePath: '/dev/sdb' } }),
  },
  executor: fakeExecutor({
    n1: nodeWith({ [uidOf(1)]: 131072 }),
    n2: {
      probes: {
        ...Object.fromEntries(viewAnswers),
        groups: report('vg', vgRow({ vg_free_count: '256' })),
        disks: report('pv', diskRow('/dev/sda')),
        segments: report(
          'pvseg',
          segmentRow('/dev/sda', 0, 1280, { segtype: 'linear' }),
          segmentRow('/dev/sda', 1280, 256),
          segmentRow('/dev/sdc', 0, 512, { vg_uuid: 'other' }),
        ),
        'logical volumes': report('lv', pool, thinRow, thickRow),
      },
    },
    n3: nodeWith({}),
  }),
  ...more,
});

test('top nodes shows the space of each directory, group and pool', async () => {
  const { code, out, err } = await top('nodes', world());
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'NAME   STORAGE                            SIZE   USED   FREE   VOLUMES   PROMISED',
      `n1     ${DIRECTORY}   10Gi   -      4Gi    2         2Gi`,
      'n2     /dev/vg0                           6Gi    5Gi    1Gi    1         1Gi',
      'n2     /dev/vg0/pool                      4Gi    1Gi    3Gi    1         6Gi',
      `n3     ${DIRECTORY}   10Gi   -      4Gi    0         0`,
      '',
    ].join('\n'),
  );
});

test('top nodes as data has what the Volumes occupy', async () => {
  const { items } = JSON.parse((await top('nodes n1 n2 -o json', world())).out);
  for (const item of items) expectSchema('space', item);
  expect(items).toEqual([
    expect.objectContaining({ node: 'n1', onDiskBytes: 64 * 1024 ** 2, freeBytes: 4 * GIB }),
    expect.objectContaining({ storage: '/dev/vg0', onDiskBytes: GIB, usedBytes: 5 * GIB }),
    expect.objectContaining({ storage: '/dev/vg0/pool', onDiskBytes: 3 * GIB, usedBytes: GIB }),
  ]);
  // Space for root and metadata is neither free nor used.
  expect(items[0]).not.toHaveProperty('usedBytes');
  const { out } = await top('nodes n2 -o wide --no-headers', world());
  expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(7))).toEqual([
    ['1Gi', '17%'],
    ['3Gi', '150%'],
    [],
  ]);
});

test.each([
  ['promised', ['n2/dev/vg0/pool', `n1${DIRECTORY}`, 'n2/dev/vg0', `n3${DIRECTORY}`]],
  ['free', [`n1${DIRECTORY}`, `n3${DIRECTORY}`, 'n2/dev/vg0/pool', 'n2/dev/vg0']],
])('top nodes --sort-by %s puts the largest first', async (field, order) => {
  const { out } = await top(`nodes -o name --sort-by ${field}`, world());
  expect(out.trim().split('\n')).toEqual(order.map((name) => `node/${name}`));
});

test('top nodes shows dashes and one note for a node that does not answer', async () => {
  const executor = fakeExecutor({ n1: new NodeError('unreachable', 'n1', 'node n1: no route') });
  const { code, out, err } = await top('nodes n1 --no-headers', world({ executor }));
  expect({ code, row: out.trim().split(/ {2,}/).slice(2) }).toEqual({
    code: 0,
    row: ['-', '-', '-', '2', '2Gi'],
  });
  expect(err).toBe(`note: no SIZE of n1 ${DIRECTORY}: node n1: no route\n`);
  const data = JSON.parse((await top('nodes n1 -o json', world({ executor }))).out).items[0];
  expectSchema('space', data);
  expect(Object.keys(data)).toEqual(['node', 'storage', 'volumes', 'promisedBytes']);
});

test('top nodes does not count a directory whose file system is not mounted', async () => {
  const there = nodeWith({ [uidOf(1)]: 131072 });
  const executor = fakeExecutor({
    n1: {
      probes: {
        ...there.probes,
        mounts: { exit: 0, stdout: '24 1 254:9 / / rw - ext4 /dev/vdb rw', stderr: '' },
      },
    },
  });
  const { out, err } = await top('nodes n1 --no-headers', world({ executor }));
  expect(out.trim().split(/ {2,}/)[2]).toBe('-');
  expect(err).toMatch(/^note: no SIZE of n1 .*: /);
});

test('top nodes takes names and selectors, and reports unknown names', async () => {
  expect(await top('nodes n1 nowhere -o name', world())).toMatchObject({
    code: 7,
    out: `node/n1${DIRECTORY}\n`,
    err: expect.stringContaining('error: Node nowhere is not in the cluster, and has no Volumes\n'),
  });
  expect(await top('nodes nowhere', world())).toMatchObject({ code: 3 });
  const { requests } = await top('nodes -l rack=1', world());
  expect(requests[0]).toMatchObject({ what: 'list nodes/*', options: { labelSelector: 'rack=1' } });
});

test('top nodes notes that Nodes may not be read, and shows those with Volumes', async () => {
  const failures = { 'list nodes/*': refusal(403, 'nodes is forbidden') };
  const { code, out, err } = await top('nodes -o name', world({ failures }));
  expect({ code, lines: out.trim().split('\n').length }).toEqual({ code: 0, lines: 3 });
  expect(err).toContain('nodes is forbidden');
});

test('top nodes shows no number that no storage has', async () => {
  const there = nodeWith({ [uidOf(1)]: 131072 });
  const huge = '9'.repeat(400);
  const probes = Object.fromEntries(
    Object.entries(there.probes).map(([name, answer]) => [
      name,
      name.startsWith('free ') ? { exit: 0, stdout: `${huge}|4096\n`, stderr: '' } : answer,
    ]),
  );
  const { out } = await top(
    'nodes n1 -o json',
    world({ executor: fakeExecutor({ n1: { probes } }) }),
  );
  expectSchema('space', JSON.parse(out).items[0]);
});
