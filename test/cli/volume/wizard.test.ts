import { describe, expect, test } from '@jest/globals';
import { StowageError } from '../../../src/api/errors.ts';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { EMPTY_NODE, fakeExecutor, NO_DEVICE, result } from '../../support/fake-executor.ts';
import { type Outcome, stowage, type World } from '../../support/fake-io.ts';
import { viewAnswers } from '../../support/lvm-reports.ts';
import { classNamed, volumeNamed } from '../../support/volumes.ts';

const device = (kname: string, more: object = {}) => ({
  kname,
  type: 'disk',
  size: 2 ** 31,
  ro: false,
  model: 'Fast',
  ...more,
});
const DEVICES = JSON.stringify({
  blockdevices: [
    device('sda', { mountpoint: '/' }),
    device('sdb', { fstype: 'ext4', uuid: 'u' }),
    device('sdc'),
  ],
});
const LINK = '/dev/disk/by-id/ata-Fast_S3';
const PLACE = '/dev/disk/by-path/pci-0000:00:05.0-ata-3';
const GROUPS = JSON.stringify({
  report: [
    {
      vg: [
        {
          vg_name: 'guest',
          vg_uuid: 'g',
          vg_attr: 'wz--n-',
          vg_extent_size: '4194304',
          vg_free_count: '9',
        },
        {
          vg_name: 'vg0',
          vg_uuid: 'u',
          vg_attr: 'wz--n-',
          vg_extent_size: '4194304',
          vg_free_count: '512',
        },
        {
          vg_name: 'old',
          vg_uuid: 'v',
          vg_attr: 'rz--n-',
          vg_extent_size: '4194304',
          vg_free_count: '1',
        },
      ],
    },
  ],
});
const DISKS = ['g /dev/loop3', 'u /dev/sda', 'v /dev/sdb'].map((disk) => {
  const [vg_uuid, pv_name] = disk.split(' ');
  return { vg_uuid, pv_name };
});
const room = result(0, '1048576|4096');
const PROBES = {
  ...EMPTY_NODE,
  'free /var': room,
  'free /var/lib': room,
  'free /var/lib/metalk8s': room,
  'free /var/lib/metalk8s/storage': room,
  'free /var/lib/metalk8s/storage/sparse': room,
  'offered devices': result(0, DEVICES),
  'offered links': result(0, `${PLACE} ../../sdc\n${LINK} ../../sdc\n`),
  ...Object.fromEntries(viewAnswers),
  groups: result(0, GROUPS),
  disks: result(0, JSON.stringify({ report: [{ pv: DISKS }] })),
};
const away = new NodeError('unreachable', 'n2', 'node n2 did not answer', { hint: 'Look at it.' });
const world = (answers: World['answers'], more: World = {}): World => ({
  tty: true,
  ...(answers && { answers }),
  executor: fakeExecutor({ n1: { probes: PROBES }, n2: away }),
  objects: {
    'nodes/n1': nodeNamed('n1'),
    'nodes/n2': nodeNamed('n2'),
    'storageclasses/fast': classNamed('fast'),
    'volumes/other': volumeNamed('other'),
  },
  ...more,
});
const created = ({ requests }: Pick<Outcome, 'requests'>) =>
  requests
    .filter(
      ({ what, options }) => what.startsWith('create') && !(options as { dryRun?: boolean }).dryRun,
    )
    .map(({ what }) => what);
/** Returns the created objects as they were sent. */
const made = ({ requests }: Pick<Outcome, 'requests'>) =>
  requests.flatMap(({ what, object, options }) =>
    what.startsWith('create') && !(options as { dryRun?: boolean }).dryRun ? [object] : [],
  );
const CREATE = ['create', 'volume'];
const KNOWN = ['--node', 'n1', '--storage-class', 'fast'];

test('create volume prompts for all flags, shows a summary, and creates the Volume', async () => {
  const answers = ['data1', 'n1', 'sparse', '10GB', '1Gi', 'fast', 'Always', true];
  const outcome = await stowage(CREATE, world(answers));
  expect(outcome).toMatchObject({
    code: 0,
    out: 'volume.storage.metalk8s.scality.com/data1 created\n',
  });
  expect(created(outcome)).toEqual(['create volumes/data1']);
  expect(outcome.choices).toEqual([
    [
      'n1  4Gi free in /var/lib/metalk8s/storage/sparse, 1 Volume',
      'n2  node n2 did not answer, 0 Volumes',
      'another one, or several',
    ],
    expect.arrayContaining(['a logical volume of LVM']),
    ['fast'],
    ['always', 'while a pod needs it'],
  ]);
  expect(outcome.err).toContain(`
Volumes to create:
  Volume data1 on n1: a file of 1Gi in /var/lib/metalk8s/storage/sparse, of storage class fast

Steps on the nodes:
  on n1:
    create the directory /var/lib/metalk8s/storage/sparse
`);
  expect(outcome.err).toContain(`
Equivalent command:
  stowage create volume data1 --node n1 --type sparse --size 1Gi --storage-class fast --attach-policy Always
`);
});

test('the shown command creates the same Volume', async () => {
  const asked = await stowage(
    [...CREATE, '--labels=a=b'],
    world(['d', 'n1', 'sparse', '1Gi', 'fast', 'OnDemand', true]),
  );
  const [, line = ''] = /Equivalent command:\n {2}stowage (.*)\n/.exec(asked.err) ?? [];
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  const told = await stowage(words, world([]));
  const [wanted, ...more] = made(asked);
  expect(more).toEqual([]);
  expect(wanted).toBeDefined();
  expect(made(told)).toEqual([wanted]);
});

test.each([
  ['the user answers no', [false], 5, 'Not confirmed: nothing was done'],
  ['the user presses Ctrl-C', [new SignalError('SIGINT')], 130, ''],
])('nothing is created: %s', async (_, answers, code, message) => {
  const outcome = await stowage(
    [...CREATE, 'data1', ...KNOWN, '--type=sparse'],
    world(['1Gi', ...answers]),
  );
  expect(outcome.code).toBe(code);
  expect(outcome.err).toContain(message);
  expect(created(outcome)).toEqual([]);
});

describe('a raw device in the prompts of create volume', () => {
  // A device is listed by a persistent link, or by the kernel's name if it has none.
  test.each([LINK, '/dev/sdb'])(
    'is chosen as %s from the devices of the node, without those in use',
    async (path) => {
      const probes = { ...PROBES, ...NO_DEVICE };
      const executor = fakeExecutor({ n1: { probes } });
      const outcome = await stowage(
        [...CREATE, 'd', ...KNOWN],
        world(['raw', '/dev/sda', path, 'Always'], { executor }),
      );
      expect(outcome.choices[1]).toEqual([
        '/dev/sdb  2Gi  Fast  ext4:u',
        '/dev/sdc  2Gi  Fast  no signature found',
        'another one, by its path',
        '/dev/sda  2Gi  Fast (mounted at /)',
      ]);
      // The node does not have the device, which the command detects before any request.
      expect(outcome.code).toBe(5);
      expect(outcome.err).toContain(`Volume d: there is no device ${path} on the node`);
      expect(outcome.err).toContain('hint: Check the path');
      expect(created(outcome)).toEqual([]);
    },
  );

  test.each(['/dev/sdc', LINK, PLACE])(
    'is shown with the Volume that uses it as %s',
    async (devicePath) => {
      const raw = volumeNamed('mine');
      raw.spec = { nodeName: 'n1', storageClassName: 'fast', rawBlockDevice: { devicePath } };
      const objects = { ...world([]).objects, 'volumes/mine': raw };
      const { choices } = await stowage(
        [...CREATE, 'd', ...KNOWN],
        world(['raw', '', 'x', '/dev/sdd', 'Always'], { objects }),
      );
      expect(choices[1]).toContain("/dev/sdc  2Gi  Fast (Volume mine's)");
    },
  );

  test('is entered by path if the node does not answer', async () => {
    const flags = ['--node', 'n2', '--storage-class', 'fast'];
    const outcome = await stowage(
      [...CREATE, 'd', ...flags],
      world(['raw', 'sdb', '/dev/sdb', 'Always', true]),
    );
    expect(outcome.questions).toContain('Path of the device on the node:');
    expect(outcome.err).toContain('note: not checked: node n2 did not answer\n');
    expect(outcome.err).toContain('on n2: not known: node n2 did not answer');
    expect(created(outcome)).toEqual(['create volumes/d']);
  });
});

test('the prompt for a logical volume offers the groups of the node', async () => {
  const { questions, choices } = await stowage(
    [...CREATE, 'd', ...KNOWN],
    world(['lvm', 'old', '', 'vg 0', 'vg1', new SignalError('SIGINT')]),
  );
  expect(choices[1]).toEqual(['vg0  2Gi free', 'old  4Mi free (read-only)', 'another one']);
  expect(questions.slice(-2)).toEqual(['Volume group on the node:', 'Size, such as 10Gi:']);
});

test('the prompt for a node accepts a pattern for several nodes', async () => {
  const outcome = await stowage(
    [...CREATE, 'd', '--storage-class', 'fast'],
    world(['', 'n{1..', 'n{1..2}', 'sparse', '1Gi', 'Always', true]),
  );
  expect(created(outcome)).toEqual(['create volumes/d-n1', 'create volumes/d-n2']);
  expect(outcome.err).toContain("--node 'n1,n2'");
});

test('an overwrite is confirmed once', async () => {
  const argv = [...CREATE, 'd', '--node', 'n2', '--device', '/dev/sdb', '--overwrite', 'ext4'];
  const outcome = await stowage(argv, world(['fast', true]));
  expect(outcome.questions).toEqual(['Storage class:', 'Create, and overwrite this data?']);
  expect(created(outcome)).toEqual(['create volumes/d']);
});

test('the shown command contains --yes and the same --overwrite', async () => {
  const argv = [...CREATE, 'd', '--node', 'n2', '--device', '/dev/sdb', '--overwrite', 'ext4'];
  const asked = await stowage(
    [...argv, '--wait', '--timeout=9s', '-o', 'name'],
    world(['fast', false]),
  );
  expect(asked.err).toContain(
    '  stowage create volume d --node n2 --type raw --device /dev/sdb --overwrite ext4 --yes --storage-class fast --output name --wait --timeout 9000ms\n',
  );
  expect(created(asked)).toEqual([]);
});

test('reports a refusal of the server before it probes nodes or asks for consent', async () => {
  const taken = new StowageError('conflict', 'volumes "d" already exists');
  const executor = fakeExecutor({ n1: { probes: PROBES } });
  const outcome = await stowage(
    [...CREATE, 'd', ...KNOWN, '--type=sparse'],
    world(['1Gi'], { failures: { 'create volumes/d': taken }, executor }),
  );
  expect(outcome).toMatchObject({ code: 5, questions: ['Size, such as 10Gi:'] });
  expect(outcome.err).toContain('volumes "d" already exists');
  expect(outcome.err).not.toContain('Planning the steps on the nodes');
});

test('prompts for a class name if classes may not be listed', async () => {
  const forbidden = new StowageError('forbidden', 'storageclasses is forbidden');
  const outcome = await stowage(
    [...CREATE, 'd', '--node=n1', '--size=1Gi'],
    world(['fast', true], { failures: { 'list storageclasses/*': forbidden } }),
  );
  expect(outcome).toMatchObject({
    code: 0,
    questions: ['Storage class:', 'Create it?'],
    choices: [],
  });
});

test('reports a missing storage class', async () => {
  const objects = { 'nodes/n1': nodeNamed('n1') };
  const outcome = await stowage(
    [...CREATE, 'd', '--node=n1', '--size=1Gi'],
    world(['slow', true], { objects }),
  );
  expect(outcome.err).toContain('not known: the storage class does not exist yet');
  expect(outcome.code).toBe(0);
});

test('contradictory flags are refused before any prompt', async () => {
  const outcome = await stowage([...CREATE, '--size', '1Gi', '--device', '/dev/sdb'], world([]));
  expect(outcome).toMatchObject({ code: 2, questions: [] });
});
