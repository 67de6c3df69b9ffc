import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import { ago, NOW, nodeNamed } from '../../support/cluster-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { EMPTY_NODE, fakeExecutor, result } from '../../support/fake-executor.ts';
import { type Outcome, stowage, type World } from '../../support/fake-io.ts';
import {
  diskRow,
  lvRow,
  NO_DEVICE,
  report,
  vgRow,
  viewAnswers,
} from '../../support/lvm-reports.ts';
import { classNamed, volumeNamed } from '../../support/volumes.ts';

const HOUR = 3_600_000;
const OLD = '11111111-2222-4333-8444-555555555555';
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const TAINT = 'node.kubernetes.io/out-of-service';
const ADOPT = ['adopt', 'volume', 'd1', '--node', 'n2', '--storage-class', 'fast'];
const FILE = [...ADOPT, '--file', OLD];

const prepared = { node: 'n1', paths: [`${FOLDER}/${OLD}`], identity: `ext4 ${OLD}` };
const old = (): Volume => {
  const base = volumeNamed('old1', { prepared });
  return { ...base, metadata: { ...base.metadata, uid: OLD } };
};
const off = nodeNamed('n1', { ready: 'Unknown', since: ago(10), taints: [TAINT] });
const files = {
  ...EMPTY_NODE,
  'earlier path': result(0, `${FOLDER}/${OLD}`),
  'earlier file': result(0, `regular file|${64 << 20}|77|8|512`),
  'earlier signature': result(0, `DEVNAME=x\nUUID=${OLD}\nTYPE=ext4`),
  'earlier readable': result(0),
  'earlier holders': result(0),
  files: result(0, `8|${OLD}\n8|other\n`),
};
const logical = (lv_tags: string) => ({
  ...Object.fromEntries(viewAnswers),
  'logical volumes': report(
    'lv',
    lvRow({ lv_name: 'old1', lv_size: '67108864', ...NO_DEVICE, lv_tags }),
  ),
  groups: report('vg', vgRow()),
  disks: report('pv', diskRow('/dev/sda')),
});
const world = (
  more: World['objects'] = {},
  probes: object = {},
  answers?: World['answers'],
): World => ({
  executor: fakeExecutor({ n2: { probes: { ...files, ...probes } } }),
  objects: {
    'storageclasses/fast': classNamed('fast', { parameters: { fsType: 'ext4' } }),
    'nodes/n2': nodeNamed('n2', { ready: 'True' }),
    ...more,
  },
  ...(answers && { tty: true, answers }),
});
const sent = ({ requests }: Outcome) =>
  requests.flatMap(({ what, object, options }) =>
    what.startsWith('create') && !(options as { dryRun?: boolean }).dryRun ? [object] : [],
  );

const manifest = {
  apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
  kind: 'Volume',
  metadata: { name: 'd1' },
  spec: {
    nodeName: 'n2',
    storageClassName: 'fast',
    mode: 'Filesystem',
    sparseLoopDevice: { size: String(64 << 20) },
    adopt: { uid: OLD },
  },
};

test('adopt volume shows the steps, then creates the Volume', async () => {
  const outcome = await stowage(FILE, world());
  expect(outcome).toMatchObject({
    code: 0,
    out: 'volume.storage.metalk8s.scality.com/d1 created\n',
  });
  expect(sent(outcome)).toEqual([manifest]);
  expect(outcome.err).toContain(`the storage with the UID ${OLD}, of mode Filesystem`);
  expect(outcome.err).toContain(`rename the file ${OLD} for the adoption`);
  expect(outcome.err).toContain('set the UUID of the ext4 file system');
});

test.each([
  ['a day ahead', 24, 0, 5],
  ['two hours behind, of a node NotReady for long', -2, 1, 0],
])('adopt volume goes by the time of the API server, with a clock %s', async (_, ...row) => {
  const [lead, hours, code] = row;
  const clock = new FakeClock();
  clock.set(lead * HOUR);
  const silent = nodeNamed('n1', { ready: 'Unknown', since: ago(60) });
  const serverTime = () => NOW + hours * HOUR;
  const there = { ...world({ 'volumes/old1': old(), 'nodes/n1': silent }), clock, serverTime };
  expect(await stowage(FILE, there)).toMatchObject({ code });
});

test('adopt volume accepts flags of create volume', async () => {
  const more = ['--on-delete', 'Delete', '-l', 'a=b', '--directory', '/srv/a'];
  const outcome = await stowage([...FILE, ...more], world());
  expect(sent(outcome)).toMatchObject([
    {
      metadata: { labels: { a: 'b' } },
      spec: {
        onDelete: 'Delete',
        template: { metadata: { labels: { a: 'b' } } },
        sparseLoopDevice: { directory: '/srv/a' },
      },
    },
  ]);
});

test('adopt volume finds the UID in the LV tag, and the mode in the earlier Volume', async () => {
  const there = world(
    {
      'volumes/old1': { ...old(), spec: { ...old().spec, mode: 'Block' } } as Volume,
      'nodes/n1': off,
    },
    { ...logical(`a,stowage.dev/uid=${OLD}`), boot: result(0, 'b') },
  );
  const { code, out } = await stowage(
    [...ADOPT, '--vg', 'vg0', '--lv', 'old1', '--dry-run=client', '-o', 'json'],
    there,
  );
  expect({ code, ...JSON.parse(out).spec }).toMatchObject({
    code: 0,
    mode: 'Block',
    lvmLogicalVolume: { vgName: 'vg0', size: '67108864' },
    adopt: { uid: OLD },
  });
});

describe('adopt volume --dry-run', () => {
  test('plan prints the commands and creates nothing', async () => {
    const outcome = await stowage([...FILE, '--dry-run=plan'], world());
    expect(outcome.code).toBe(0);
    expect(outcome.out).toContain(
      `'mv' '-T' '--' '${FOLDER}/${OLD}' '${FOLDER}/00000000-0000-4000-8000-000000000000.partial'`,
    );
    expect(sent(outcome)).toEqual([]);
  });

  test('client prints the manifest', async () => {
    const outcome = await stowage([...FILE, '--dry-run=client', '-o', 'json'], world());
    expect(JSON.parse(outcome.out)).toEqual(manifest);
    expect(sent(outcome)).toEqual([]);
  });
});

describe('adopt volume refuses', () => {
  const rows: [string, string[], World, number, RegExp][] = [
    [
      'storage of a Volume whose node is Ready',
      FILE,
      world({ 'volumes/old1': old(), 'nodes/n1': nodeNamed('n1', { ready: 'True' }) }),
      5,
      /Volume d1: the storage with UID 1111.* belongs to Volume old1 on node n1, and node n1 is Ready/,
    ],
    [
      'a missing file',
      FILE,
      world({}, { 'earlier file': result(1, '', 'stat: No such file or directory') }),
      5,
      /there is no file/,
    ],
    [
      'a file that Stowage did not create',
      FILE,
      world({}, { 'earlier signature': result(2) }),
      5,
      /is not a volume that Stowage created: nothing was found/,
    ],
    [
      'another mode',
      [...FILE, '--mode', 'Block'],
      world(),
      5,
      /belongs to a Volume of mode Filesystem, not Block/,
    ],
    [
      'a file name that is not a UID',
      [...ADOPT, '--file', '../x'],
      world(),
      2,
      /the file of a Volume is named after its UID/,
    ],
    [
      'two kinds of storage',
      [...FILE, '--device', '/dev/sdb'],
      world(),
      2,
      /A Volume adopts one kind of storage/,
    ],
    ['no storage', ADOPT, world(), 2, /missing: --device or --file or --vg and --lv/],
    [
      'a volume group without a logical volume',
      [...ADOPT, '--vg', 'vg0'],
      world(),
      2,
      /missing: --lv/,
    ],
    [
      'a logical volume without a tag',
      [...ADOPT, '--vg', 'vg0', '--lv', 'old1'],
      world({}, logical('b')),
      5,
      /has no tag of the form/,
    ],
    [
      'a logical volume of an ambiguous volume group',
      [...ADOPT, '--vg', 'vg0', '--lv', 'old1'],
      world(
        {},
        {
          ...logical(`stowage.dev/uid=${OLD}`),
          groups: report('vg', vgRow(), vgRow({ vg_uuid: 'other' })),
        },
      ),
      1,
      /several volume groups named vg0: .* and other\. .*vgrename other vg0-2/,
    ],
  ];
  test.each(rows)('%s', async (_, argv, there, code, why) => {
    const outcome = await stowage(argv, there);
    expect(outcome).toMatchObject({ code, err: expect.stringMatching(why) });
    expect(sent(outcome)).toEqual([]);
  });

  test('an adoption that the user does not confirm', async () => {
    const outcome = await stowage(FILE, world({}, {}, [false]));
    expect(outcome).toMatchObject({ code: 5, questions: ['Adopt it?'] });
    expect(sent(outcome)).toEqual([]);
  });
});

test('adopt volume prompts for missing flags, and offers files of earlier Volumes', async () => {
  const there = world({ 'volumes/old1': old(), 'nodes/n1': off }, {}, [
    'd1',
    'sparse',
    OLD,
    'fast',
    true,
  ]);
  const outcome = await stowage(['adopt', 'volume', '--node', 'n2'], there);
  expect(outcome).toMatchObject({ code: 0 });
  expect(sent(outcome)).toEqual([manifest]);
  expect(outcome.choices).toContainEqual([`${OLD}  Volume old1 on n1`, 'another one']);
  expect(outcome.err).toContain(
    `stowage adopt volume d1 --node n2 --file ${OLD} --storage-class fast --mode Filesystem --yes`,
  );
});

const CONTENT = '99999999-2222-4333-8444-555555555555';
const snapshots = {
  'volumesnapshotcontents/content': {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: 'content', uid: CONTENT },
    spec: { driver: 'volume.stowage.dev', source: { volumeHandle: 'old1' } },
  },
};
const both = { files: result(0, `8|${OLD}\n8|${CONTENT}\n`) };

test.each<[string, World['objects'], string[]]>([
  ['the file of a snapshot', snapshots, [OLD, 'another one']],
  ['a file in a cluster without snapshots', {}, [OLD, CONTENT, 'another one']],
])('adopt volume decides whether %s is offered', async (_, objects, offered) => {
  const outcome = await stowage(
    ['adopt', 'volume', '--node', 'n2'],
    world(objects, both, ['d1', 'sparse', OLD, 'fast', true]),
  );
  expect(outcome.choices).toContainEqual(offered);
});

test('adopt volume offers no file in a directory of snapshots', async () => {
  const there = world({}, both, ['d1', 'sparse', OLD, 'fast', true]);
  const outcome = await stowage(
    ['adopt', 'volume', '--node', 'n2', '--directory', '/srv/snapshots'],
    there,
  );
  expect(outcome.choices.flat()).not.toContain(OLD);
  expect(sent(outcome)).toEqual([]);
});

test('adopt volume refuses a snapshot', async () => {
  const outcome = await stowage([...ADOPT, '--file', CONTENT], world(snapshots, both));
  expect(outcome).toMatchObject({ code: 5 });
  expect(outcome.err).toMatch(/is the snapshot of VolumeSnapshotContent content,/);
  expect(sent(outcome)).toEqual([]);
});
