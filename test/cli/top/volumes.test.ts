import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { attachmentOn, nodeNamed } from '../../support/cluster-objects.ts';
import { FakeClock, until } from '../../support/fake-clock.ts';
import { fakeExecutor } from '../../support/fake-executor.ts';
import type { World } from '../../support/fake-io.ts';
import { diskRow, lvRow, report, vgRow, viewAnswers } from '../../support/lvm-reports.ts';
import { expectSchema } from '../../support/output-page.ts';
import { refusal } from '../../support/refusals.ts';
import { MEASURED, podStats, summaryOf, summaryPath } from '../../support/stats-summary.ts';
import {
  boundPv,
  CLAIM,
  claimOf,
  data1,
  executor,
  GIB,
  made,
  mountingPod,
  nodeWith,
  objects,
  paths,
  top,
  uidOf,
} from './top-scene.ts';

const cellsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

test('top volumes shows the use by the kubelet, and what the node has allocated', async () => {
  const { code, out, err } = await top('volumes');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'NAME    NODE   SIZE   USED   USE%   INODES   ON-DISK',
      'data1   n1     1Gi    250    27%    10%      64Mi',
      '',
    ].join('\n'),
  );
});

test('top volumes as data has bytes, and the time of the measurement', async () => {
  const { out } = await top('volume data1 -o json');
  const row = JSON.parse(out);
  expect(row).toEqual({
    name: 'data1',
    uid: uidOf(1),
    node: 'n1',
    sizeBytes: GIB,
    used: {
      bytes: 250,
      availableBytes: 700,
      capacityBytes: 1000,
      percent: 27,
      inodes: { used: 10, total: 100, percent: 10 },
      measured: '2029-12-31T23:59:30.000Z',
    },
    onDiskBytes: 64 * 1024 ** 2,
  });
  expectSchema('usage', row);
  expect(parse((await top('volumes -o yaml')).out)).toEqual({ items: [row] });
  expect((await top('vol -o name')).out).toBe('volume.storage.metalk8s.scality.com/data1\n');
  expect(cellsOf((await top('volumes -o wide --no-headers')).out)).toEqual([
    ['data1', 'n1', '1Gi', '250', '27%', '10%', '64Mi', '700', '2029-12-31T23:59:30.000Z'],
  ]);
});

describe('figures that are unknown', () => {
  const without = (key: string) => {
    const { [key]: _, ...rest } = objects();
    return rest;
  };
  const forbidden = refusal(403, 'no', { reason: 'Forbidden' });

  test.each<[string, World, string, RegExp]>([
    [
      'a caller without nodes/proxy',
      { paths: { [summaryPath('n1')]: forbidden } },
      'data1 n1 1Gi - - - 64Mi',
      /^note: no USED of data1: this takes the right to get nodes\/proxy, which you lack for node n1\n$/,
    ],
    [
      'a kubelet that refuses the API server',
      { paths: { [summaryPath('n1')]: refusal(403, 'Forbidden (user=kube-apiserver)') } },
      'data1 n1 1Gi - - - 64Mi',
      /^note: no USED of data1: the kubelet of node n1 is not read: Forbidden \(user=kube-apiserver\)\n$/,
    ],
    [
      'a caller who may not list pods',
      { failures: { 'list pods/spec.nodeName=n1': refusal(403, 'pods is forbidden') } },
      'data1 n1 1Gi - - - 64Mi',
      /^note: no USED of data1: pods is forbidden\n$/,
    ],
    [
      'a caller who may not list claims',
      { failures: { 'list persistentvolumeclaims/*': refusal(403, 'claims are forbidden') } },
      'data1 n1 1Gi - - - 64Mi',
      /^note: no USED of data1: claims are forbidden\n$/,
    ],
    [
      'a Volume without a claim',
      { objects: without('persistentvolumeclaims/data-0') },
      'data1 n1 1Gi - - - 64Mi',
      /^note: no USED of data1: no running pod mounts it\n$/,
    ],
    [
      'a node that does not answer',
      { executor: fakeExecutor({ n1: new NodeError('unreachable', 'n1', 'n1 is\u001b away') }) },
      'data1 n1 1Gi 250 27% 10% -',
      /^note: no ON-DISK of data1: n1 is\ufffd away\n$/,
    ],
    [
      'a node without the file',
      { executor: fakeExecutor({ n1: nodeWith({ [uidOf(2)]: 8 }) }) },
      'data1 n1 1Gi 250 27% 10% -',
      /^note: no ON-DISK of data1: node n1 does not report it in \/var\/lib\/metalk8s\/storage\/sparse\n$/,
    ],
    [
      'a status that names a foreign path',
      {
        objects: {
          ...objects(),
          'volumes/data1': {
            ...data1,
            status: { ...data1.status, prepared: { node: 'n1', paths: ['/etc/x'], identity: '' } },
          } as typeof data1,
        },
      },
      'data1 n1 1Gi 250 27% 10% -',
      /^note: no ON-DISK of data1: its object names no valid storage\n$/,
    ],
  ])('have a dash, and one note about the reason: %s', async (_name, world, row, note) => {
    const { code, out, err } = await top('volumes --no-headers', world);
    expect({ code, row: cellsOf(out)[0]?.join(' ') }).toEqual({ code: 0, row });
    expect(err).toMatch(note);
    expectSchema('usage', JSON.parse((await top('volumes -o json', world)).out).items[0]);
  });

  test('have one note for many Volumes with the same reason', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`volumes/v${index}`, made(`v${index}`, index + 2)]),
    );
    const blocks = Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [uidOf(number), 8]));
    const { err } = await top('volumes', {
      objects: { ...objects(), ...many },
      executor: fakeExecutor({ n1: nodeWith(blocks) }),
    });
    expect(err).toBe('note: no USED of v0, v1, v2 and 2 more: no running pod mounts it\n');
  });

  test('are those of a kubelet that does not answer in time', async () => {
    const clock = new FakeClock();
    let aborted = false;
    const never = (signal: AbortSignal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason);
        });
      });
    const running = top('volumes --timeout 1s --no-headers', {
      clock,
      paths: { [summaryPath('n1')]: never },
    });
    await until(() => clock.sleeping.includes(1000));
    await clock.advance(1000);
    const { code, out, err } = await running;
    expect({ code, aborted, used: cellsOf(out)[0]?.[3] }).toEqual({
      code: 0,
      aborted: true,
      used: '-',
    });
    expect(err).toBe('note: no USED of data1: kubelets are not read: no answer within 1 s\n');
  });

  test('are bounded when a node writes the reason', async () => {
    const { err } = await top('volumes', {
      paths: { [summaryPath('n1')]: refusal(500, `\u001b[2J${'x'.repeat(100_000)}\nrm -rf /`) },
    });
    expect(err.length).toBeLessThan(600);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).not.toContain('\u001b');
  });
});

describe('figures of another claim or pod are not shown', () => {
  const used = async (
    change: Record<string, object>,
    summary: unknown = paths()[summaryPath('n1')],
  ) => {
    const world = {
      objects: { ...objects(), ...change } as World['objects'] & {},
      paths: { [summaryPath('n1')]: summary },
    };
    const listed = JSON.parse((await top('volumes -o json', world)).out).items[0].used?.bytes;
    // The objects are read by name in this case.
    expect(JSON.parse((await top('volume data1 -o json', world)).out).used?.bytes).toBe(listed);
    return listed;
  };
  const claimKey = 'persistentvolumeclaims/data-0';

  test('unless all UIDs match', async () => {
    expect(await used({})).toBe(250);
  });
  const cases: [string, Record<string, object>, object?][] = [
    [
      'the claim has another UID than the PersistentVolume names',
      { [claimKey]: claimOf('data1', { uid: 'claim-2' }) },
    ],
    [
      'the PersistentVolume names no UID',
      {
        'persistentvolumes/data1': {
          ...boundPv(data1),
          spec: { ...boundPv(data1).spec, claimRef: CLAIM },
        },
      },
    ],
    ['the claim is bound to another PersistentVolume', { [claimKey]: claimOf('data2') }],
    [
      'the PersistentVolume belongs to an earlier Volume of the name',
      { 'persistentvolumes/data1': boundPv(made('data1', 9)) },
    ],
    ['the pod was created again', { 'pods/db-0': mountingPod('pod-2') }],
    [
      'the pod is on another node',
      { 'pods/db-0': { ...mountingPod(), spec: { ...mountingPod().spec, nodeName: 'n2' } } },
    ],
    [
      'the claim was created again after the pod was scheduled',
      { [claimKey]: claimOf('data1', { creationTimestamp: '2029-12-31T19:45:01Z' }) },
    ],
    ['the pod has no time of its scheduling', { 'pods/db-0': { ...mountingPod(), status: {} } }],
    [
      'the pod mounts another claim by that volume',
      {
        'pods/db-0': {
          ...mountingPod(),
          spec: {
            nodeName: 'n1',
            volumes: [
              { name: 'data', persistentVolumeClaim: { claimName: 'x' } },
              { name: 'other', persistentVolumeClaim: { claimName: CLAIM.name } },
            ],
          },
        },
      },
    ],
    [
      'the kubelet names a claim of another namespace',
      {},
      summaryOf(podStats('pod-1', { ...CLAIM, namespace: 'x' })),
    ],
    ['the kubelet names another claim', {}, summaryOf(podStats('pod-1', { ...CLAIM, name: 'x' }))],
  ];
  // A row without a third element would get a callback in its place.
  test.each(cases.map(([name, change, summary]) => ({ name, change, summary })))(
    'if $name',
    async ({ change, summary }) => {
      expect(await used(change, summary)).toBeUndefined();
    },
  );

  test('if they come from a node on which the Volume is not', async () => {
    const volume = made('data1', 1, { nodeName: 'n2' });
    // Anyone who may write a status could name any node there.
    const there = {
      ...volume,
      status: { ...volume.status, attachments: [attachmentOn('n1')] },
    };
    const world = {
      objects: {
        ...objects(),
        'nodes/n2': nodeNamed('n2'),
        'volumes/data1': there,
        'persistentvolumes/data1': boundPv(there),
      },
      executor: fakeExecutor({ n2: nodeWith({ [uidOf(1)]: 8 }) }),
    };
    const { out, requests } = await top('volumes -o json', world);
    expect(JSON.parse(out).items[0].used).toBeUndefined();
    expect(requests.map(({ what }) => what)).toContain(`GET ${summaryPath('n2')}`);
    expect(requests.map(({ what }) => what)).not.toContain(`GET ${summaryPath('n1')}`);
  });
});

describe('the newest figures of several pods count', () => {
  const later = { usedBytes: 300, time: '2029-12-31T23:59:31Z' };
  const second = (node: string): KubeObject => {
    const pod = mountingPod('pod-2');
    return {
      ...pod,
      metadata: { ...pod.metadata, name: 'db-1' },
      spec: { ...pod.spec, nodeName: node },
    } as Pod;
  };

  test.each([0, 1])('on a node (%d)', async (first) => {
    const pods = [podStats('pod-1', CLAIM), podStats('pod-2', CLAIM, later)];
    const { out } = await top('volume data1 -o json', {
      objects: { ...objects(), 'pods/db-1': second('n1') },
      paths: { [summaryPath('n1')]: summaryOf(...(first === 0 ? pods : pods.toReversed())) },
    });
    expect(JSON.parse(out).used.bytes).toBe(300);
  });

  test.each(['n1', 'n2'])('on several nodes (%s)', async (nodeName) => {
    const nodes = ['n1', 'n2'];
    const volume = made('data1', 1, { nodeName, attachableNodes: nodes, attachPolicy: 'OnDemand' });
    const status = { ...volume.status, attachments: nodes.map((node) => attachmentOn(node)) };
    const shared: Volume = { ...volume, status };
    const { out } = await top('volume data1 -o json', {
      objects: {
        ...objects(),
        'volumes/data1': shared,
        'persistentvolumes/data1': boundPv(shared),
        'pods/db-1': second('n2'),
      },
      paths: { ...paths(), [summaryPath('n2')]: summaryOf(podStats('pod-2', CLAIM, later)) },
      executor: fakeExecutor({ n1: nodeWith({}), n2: nodeWith({}) }),
    });
    expect(JSON.parse(out).used.bytes).toBe(300);
  });
});

describe('storage of other kinds', () => {
  const thin = { vgName: 'vg0', thinPool: 'pool', size: '1Gi' };
  const lvm = (rows: object[]) => ({
    n1: {
      probes: {
        ...Object.fromEntries(viewAnswers),
        groups: report('vg', vgRow()),
        disks: report('pv', diskRow('/dev/sda')),
        segments: report('pvseg'),
        'logical volumes': report('lv', ...rows),
      },
    },
  });
  const pool = lvRow({ lv_name: 'pool', lv_uuid: 'p', lv_attr: 'twi-aotz--', lv_tags: '' });
  const volume = (change: object) =>
    lvRow({
      lv_attr: 'Vwi-aotz--',
      pool_lv: 'pool',
      lv_tags: `stowage.dev/uid=${uidOf(1)}`,
      ...change,
    });
  const onDisk = async (spec: Parameters<typeof made>[2], rows: object[] = []) => {
    const { out, err } = await top('volumes -o json', {
      objects: { 'nodes/n1': nodeNamed('n1'), 'volumes/data1': made('data1', 1, spec) },
      executor: fakeExecutor(lvm(rows)),
    });
    return { bytes: JSON.parse(out).items[0].onDiskBytes, err };
  };

  test('occupy the used part of a thin volume', async () => {
    const { bytes } = await onDisk({ lvmLogicalVolume: thin }, [
      pool,
      volume({ data_percent: '12.50' }),
    ]);
    expect(bytes).toBe(GIB / 8);
  });

  test.each([
    ['is inactive', volume({ data_percent: '' })],
    [
      'belongs to another Volume',
      volume({ data_percent: '12.50', lv_tags: `stowage.dev/uid=${uidOf(2)}` }),
    ],
  ])('are unknown if the thin volume %s', async (_name, row) => {
    const { bytes, err } = await onDisk({ lvmLogicalVolume: thin }, [pool, row]);
    expect(bytes).toBeUndefined();
    expect(err).toContain(
      'note: no ON-DISK of data1: node n1 does not report it in /dev/vg0/pool\n',
    );
  });

  test('occupy their size, without a request to the node', async () => {
    const raw = { rawBlockDevice: { devicePath: '/dev/sdb' } };
    expect((await onDisk(raw)).bytes).toBe(GIB);
    expect((await onDisk({ lvmLogicalVolume: { vgName: 'vg0', size: '1Gi' } })).bytes).toBe(GIB);
  });

  test('have no use if they are devices for pods', async () => {
    const block: KubeObject = made('data1', 1, { mode: 'Block' });
    const { err } = await top('volumes', { objects: { ...objects(), 'volumes/data1': block } });
    expect(err).toBe(
      'note: no USED of data1: volumes of mode Block have no file system that the kubelet measures\n',
    );
  });
});

describe('the choice and order of Volumes', () => {
  const other = made('data2', 2, { nodeName: 'n2' });
  const world = (): World => ({
    objects: { ...objects(), 'nodes/n2': nodeNamed('n2'), 'volumes/data2': other },
    executor: fakeExecutor({
      n1: nodeWith({ [uidOf(1)]: 8 }),
      n2: nodeWith({ [uidOf(2)]: 16 }),
    }),
  });
  const names = async (line: string) => {
    const { out } = await top(`volumes -o name ${line}`, world());
    return out
      .trim()
      .split('\n')
      .map((name) => name.split('/')[1]);
  };

  test.each([
    ['--sort-by name', ['data1', 'data2']],
    ['--sort-by use', ['data1', 'data2']],
    ['--sort-by on-disk', ['data2', 'data1']],
    ['--node n2', ['data2']],
  ])('%s', async (line, order) => {
    expect(await names(line)).toEqual(order);
  });

  test('-l is sent to the server; names and filters exclude each other', async () => {
    const { requests } = await top('volumes -l app=db', world());
    expect(requests).toContainEqual(
      expect.objectContaining({
        what: 'list volumes/*',
        options: expect.objectContaining({ labelSelector: 'app=db' }),
      }),
    );
    expect((await top('volumes data1 --node n1', world())).code).toBe(2);
    expect(await top('volumes data1 nowhere -o name', world())).toMatchObject({ code: 7 });
  });
});

describe('top volumes --watch', () => {
  const at = (minutes: number) => new Date(Date.parse(MEASURED) + minutes * 60_000).toISOString();
  const start = (argv: string, figures: object[], world: World = {}) => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const now = () => (figures.length > 1 ? figures.shift() : figures[0]) ?? {};
    const running = top(`volumes -w ${argv}`.trim(), {
      clock,
      signal: aborter.signal,
      paths: { [summaryPath('n1')]: () => summaryOf(podStats('pod-1', CLAIM, now())) },
      ...world,
    });
    return {
      running,
      interrupt: () => aborter.abort(new SignalError('SIGINT')),
      async pass(count: number) {
        await until(() => clock.sleeping.includes(30_000));
        for (let pass = 0; pass < count; pass++) {
          await clock.advance(30_000);
          await until(() => clock.sleeping.includes(30_000));
        }
      },
    };
  };

  test('shows growth once two measurements are 5 min apart', async () => {
    const { running, interrupt, pass } = start('', [
      {},
      { usedBytes: 300, time: at(4) },
      { usedBytes: 300, availableBytes: 650, time: at(5) },
    ]);
    await pass(2);
    interrupt();
    const { code, out } = await running;
    expect(code).toBe(130);
    expect(cellsOf(out).map((row) => row.slice(3))).toEqual([
      ['USED', 'USE%', 'INODES', 'ON-DISK', 'GROWTH/DAY', 'FULL-IN'],
      ['250', '27%', '10%', '64Mi', '-', '-'],
      ['300', '30%', '10%', '64Mi', '-', '-'],
      ['300', '32%', '10%', '64Mi', '14Ki', '65m'],
    ]);
  });

  test('prints data with growth', async () => {
    const { running, interrupt, pass } = start('-o json', [{}, { usedBytes: 150, time: at(10) }]);
    await pass(1);
    interrupt();
    const documents = (await running).out
      .trim()
      .split(/\n(?=\{)/)
      .map((text) => JSON.parse(text));
    for (const each of documents) expectSchema('usage', each);
    expect(documents.map(({ growth }) => growth)).toEqual([
      undefined,
      { bytesPerDay: -14_400, overSeconds: 600 },
    ]);
  });

  test('notes each reason once', async () => {
    const { running, interrupt, pass } = start('', [{}], {
      paths: { [summaryPath('n1')]: refusal(403, 'no', { reason: 'Forbidden' }) },
    });
    await pass(3);
    interrupt();
    expect((await running).err.match(/note:/g)).toHaveLength(1);
  });
});

test('top volumes passes flags to the node executor, and closes it', async () => {
  const reached = executor();
  const { nodesAs } = await top('volumes --transport local --local-node n1', { executor: reached });
  expect(nodesAs).toMatchObject({ transport: 'local', localNodes: ['n1'] });
  expect(reached.closed).toBe(true);
  expect(reached.asked.every((line) => line.startsWith('n1: '))).toBe(true);
});

test('top volumes without Volumes asks nobody', async () => {
  const { code, out, err, requests } = await top('volumes', {
    objects: {},
    executor: fakeExecutor({}),
  });
  expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'No volumes found\n' });
  expect(requests.some(({ what }) => what.includes('proxy'))).toBe(false);
});
