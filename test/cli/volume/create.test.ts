import { describe, expect, test } from '@jest/globals';
import type { Lease } from '../../../src/api/core.ts';
import { explain } from '../../../src/api/reasons.ts';
import type { Volume } from '../../../src/api/volume.ts';
import type { WatchEvent } from '../../../src/kube/types.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { NOW } from '../../support/cluster-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { fakeExecutor } from '../../support/fake-executor.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { leadingLease } from '../../support/leading-lease.ts';
import { refusal } from '../../support/refusals.ts';
import { classNamed, ready, volumeNamed } from '../../support/volumes.ts';

const CREATE = [
  'create',
  'volume',
  'data1',
  '--node',
  'n1',
  '--size',
  '1Gi',
  '--storage-class',
  'fast',
];
const FULL_NAME = 'volume.storage.metalk8s.scality.com/data1';

test('sends the Volume that the flags describe', async () => {
  const { code, out, err, requests } = await stowage([
    ...CREATE,
    '--directory',
    '/srv',
    '-l',
    'a=1',
    '-l',
    'b=2',
  ]);
  expect({ code, out, err }).toEqual({ code: 0, out: `${FULL_NAME} created\n`, err: '' });
  expect(requests).toMatchObject([{ what: 'create volumes/data1', options: { dryRun: false } }]);
  expect(requests[0]?.object).toEqual({
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'data1', labels: { a: '1', b: '2' } },
    spec: {
      nodeName: 'n1',
      storageClassName: 'fast',
      template: { metadata: { labels: { a: '1', b: '2' } } },
      sparseLoopDevice: { size: '1Gi', directory: '/srv' },
    },
  });
});

test('sends only the fields that flags set', async () => {
  const { requests } = await stowage(CREATE);
  expect(requests[0]?.object).toEqual({
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'data1' },
    spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '1Gi' } },
  });
});

describe('create volume --dry-run', () => {
  test('client needs no cluster', async () => {
    const { code, out, connections } = await stowage([...CREATE, '--dry-run=client', '--wait']);
    expect({ code, out, connections }).toEqual({
      code: 0,
      out: `${FULL_NAME} created (dry run)\n`,
      connections: [],
    });
  });

  test('server sends the Volume as a dry run', async () => {
    const { code, out, requests } = await stowage([...CREATE, '--dry-run=server', '--wait']);
    expect({ code, out }).toEqual({ code: 0, out: `${FULL_NAME} created (server dry run)\n` });
    expect(requests).toMatchObject([{ what: 'create volumes/data1', options: { dryRun: true } }]);
  });
});

describe('create volume -o', () => {
  test('prints the Volume as name, JSON or YAML', async () => {
    expect((await stowage([...CREATE, '-o', 'name'])).out).toBe(`${FULL_NAME}\n`);
    expect(JSON.parse((await stowage([...CREATE, '-o', 'json'])).out).metadata.uid).toBe(
      'uid-data1',
    );
    expect((await stowage([...CREATE, '-o', 'yaml'])).out).toContain('\nkind: Volume\n');
  });
});

describe('create volume --wait', () => {
  const modified = (volume: Volume): WatchEvent => ({ type: 'MODIFIED', object: volume });
  const step = (status: Volume['status'] & object) => modified(volumeNamed('data1', status));
  const pending = step({
    phase: 'Pending',
    job: 'PrepareVolume/1',
    ...ready('Unknown', 'Pending', 'mkfs.ext4'),
  });
  const done = step({
    phase: 'Available',
    job: 'PrepareVolume/DONE',
    ...ready('True', 'Available'),
  });

  test('reports progress on stderr until the Volume is Ready, then prints the result', async () => {
    const { code, out, err } = await stowage([...CREATE, '--wait', '-o', 'json'], {
      events: [pending, pending, done],
    });
    expect(code).toBe(0);
    expect(JSON.parse(out).status.phase).toBe('Available');
    expect(err.split('\n')).toEqual([
      `${FULL_NAME} created`,
      'data1: Unknown',
      'data1: Pending, PrepareVolume/1: mkfs.ext4',
      'data1: Available, PrepareVolume/DONE',
      '',
    ]);
  });

  test('fails with the reason if the Volume fails', async () => {
    const failed = step({ phase: 'Failed', ...ready('False', 'CreationError', 'no space on n1') });
    const { code, out, err } = await stowage([...CREATE, '--wait'], { events: [pending, failed] });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(
      'error: Volume data1 failed: CreationError: no space on n1\nhint: Find out how to fix it: stowage why volume data1\n',
    );
  });

  test('ends if the node lacks a program', async () => {
    const { message, detail } = explain('ProbeToolMissing', { package: 'lvm2', said: 'no lvs' });
    const condition = { type: 'Ready', status: 'Unknown', reason: 'NodeUnclear' } as const;
    const lacking = step({ phase: 'Pending', conditions: [{ ...condition, message, detail }] });
    const { code, err } = await stowage([...CREATE, '--wait'], { events: [pending, lacking] });
    expect(code).toBe(1);
    expect(err).toContain(
      'error: Volume data1 failed: NodeUnclear: the node lacks a tool of the package lvm2: no lvs. Install it on the node.\nhint: Find out how to fix it: stowage why volume data1\n',
    );
  });

  test('keeps waiting while the node does not answer', async () => {
    const away = step({
      phase: 'Pending',
      ...ready('Unknown', 'NodeUnreachable', 'n1 does not answer'),
    });
    expect(await stowage([...CREATE, '--wait'], { events: [away, done] })).toMatchObject({
      code: 0,
    });
  });

  test.each<[string, WatchEvent]>([
    ['deleted', { type: 'DELETED', object: volumeNamed('data1') }],
    ['replaced', modified({ ...volumeNamed('data1'), metadata: { name: 'data1', uid: 'other' } })],
  ])('ends when the Volume is %s', async (_, event) => {
    const { code, err } = await stowage([...CREATE, '--wait'], { events: [event] });
    expect(code).toBe(3);
    expect(err).toContain('Volume data1 was deleted during the wait');
  });

  describe('the note before the wait', () => {
    const LIST_LEASES = 'list leases/metadata.namespace!=kube-node-lease';
    const leads = (name = 'stowage') => leadingLease(NOW, {}, name);
    const stopped = (name = 'stowage') => leadingLease(NOW - 60_000, {}, name);
    const note = async (leases: Lease[], failures: World['failures'] = {}) => {
      const clock = new FakeClock();
      const objects = Object.fromEntries(
        leases.map((each) => [`leases/${each.metadata.name}`, each]),
      );
      const world = { objects, failures, clock, events: [done] };
      const { code, err } = await stowage([...CREATE, '--wait'], world);
      expect(code).toBe(0);
      return err.split('\n').filter((line) => line.startsWith('note: '));
    };

    test('reports that no daemon leads', async () => {
      expect(await note([stopped()])).toEqual([
        'note: no daemon leads; Volumes are provisioned once one does (stowage check cluster)',
      ]);
    });

    test('names the node if only daemons of other nodes lead', async () => {
      expect(await note([stopped('stowage-n1'), leads('stowage-n2')])).toEqual([
        'note: no daemon leads for node n1; Volumes are provisioned once one does (stowage check cluster)',
      ]);
    });

    test.each<[string, Lease[], World['failures']]>([
      ['a daemon leads', [leads()], {}],
      ['no Lease exists', [], {}],
      ['Leases may not be read', [stopped()], { [LIST_LEASES]: refusal(403, 'no') }],
      ['Leases cannot be read', [stopped()], { [LIST_LEASES]: refusal(500, 'no') }],
    ])('is absent if %s', async (_, leases, failures) => {
      expect(await note(leases, failures)).toEqual([]);
    });
  });

  test('times out after --timeout', async () => {
    const clock = new FakeClock();
    const running = stowage([...CREATE, '--wait', '--timeout', '90s'], {
      events: [pending],
      clock,
    });
    await clock.advance(89_999);
    await clock.advance(1);
    const { code, out, err } = await running;
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err).toContain(
      'The daemon continues it. Find out what holds it up: stowage why volume data1\n',
    );
  });
});

describe('create volume --size', () => {
  test.each(['1Gi', '1.5Gi', '.5Gi', '1e9', '1E3', '1G', '7Ei', '1E', '1073741824'])(
    'sends %s unchanged',
    async (size) => {
      const { code, requests } = await stowage(CREATE.with(6, size));
      expect(code).toBe(0);
      expect(requests[0]?.object).toMatchObject({ spec: { sparseLoopDevice: { size } } });
    },
  );

  test.each([
    ['0', 'must be greater than 0'],
    ['0Gi', 'must be greater than 0'],
    ['-1Gi', 'must be greater than 0'],
    ['', 'must be a quantity of bytes'],
    ['10GB', 'must be a quantity of bytes'],
    ['1,5Gi', 'must be a quantity of bytes'],
    ['1 Gi', 'must be a quantity of bytes'],
    ['lots', 'must be a quantity of bytes'],
    ['8Ei', 'must be at most 9223372036854771712 bytes'],
    ['10E', 'must be at most 9223372036854771712 bytes'],
  ])('refuses %j: %s', async (size, problem) => {
    const { code, out, err, requests } = await stowage([
      ...CREATE.toSpliced(5, 2),
      `--size=${size}`,
    ]);
    expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] });
    expect(err).toContain('Volume data1: spec.sparseLoopDevice.size is ');
    expect(err).toContain(problem);
  });
});

describe('create volume on several nodes', () => {
  const BATCH = CREATE.with(4, 'n{1..3}');
  const exists = refusal(409, 'n2 is there', { reason: 'AlreadyExists' });

  test('names each Volume after its node', async () => {
    const { code, out, requests } = await stowage(BATCH);
    expect({ code, out }).toEqual({
      code: 0,
      out: [1, 2, 3].map((n) => `${FULL_NAME}-n${n} created\n`).join(''),
    });
    expect(requests.map(({ object }) => (object as Volume).spec.nodeName)).toEqual([
      'n1',
      'n2',
      'n3',
    ]);
  });

  test('appends the node name also for a pattern that expands to one node', async () => {
    expect((await stowage(CREATE.with(4, 'n{7..7}'))).out).toBe(`${FULL_NAME}-n7 created\n`);
    expect((await stowage([...CREATE, '--node', 'n1'])).out).toBe(`${FULL_NAME} created\n`);
    expect((await stowage([...CREATE, '--node', 'n2'])).out).toBe(
      `${FULL_NAME}-n1 created\n${FULL_NAME}-n2 created\n`,
    );
  });

  test('tries each node, and reports each failure', async () => {
    const failures = { 'create volumes/data1-n2': exists };
    const { code, out, err } = await stowage(BATCH, { failures });
    expect({ code, out }).toEqual({
      code: 7,
      out: `${FULL_NAME}-n1 created\n${FULL_NAME}-n3 created\n`,
    });
    expect(err).toBe('error: n2 is there\nerror: 1 of 3 failed\n');
  });

  test('prints a List of the created Volumes as JSON', async () => {
    const failures = { 'create volumes/data1-n2': exists };
    const list = JSON.parse((await stowage([...BATCH, '-o', 'json'], { failures })).out);
    expect(list).toMatchObject({ apiVersion: 'v1', kind: 'List' });
    expect(list.items.map(({ metadata }: Volume) => metadata.name)).toEqual([
      'data1-n1',
      'data1-n3',
    ]);
  });

  test.each([
    ['client', 'dry run', 0],
    ['server', 'server dry run', 3],
  ])('--dry-run=%s prints all', async (mode, how, asked) => {
    const { code, out, requests } = await stowage([...BATCH, `--dry-run=${mode}`]);
    expect(code).toBe(0);
    expect(out).toBe([1, 2, 3].map((n) => `${FULL_NAME}-n${n} created (${how})\n`).join(''));
    expect(requests).toHaveLength(asked);
  });

  test('refuses an invalid name before it creates anything', async () => {
    const { code, err, requests } = await stowage([
      ...CREATE.with(2, 'a'.repeat(250)),
      '--node',
      'node2',
    ]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(err).toContain('253 characters at most');
    // The other name is valid: 250 and 3 characters.
    expect(err.match(/^.*Volume .*$/gm)).toEqual([expect.stringContaining('a-node2: ')]);
  });

  test('reports ten of many equal problems, and counts the rest', async () => {
    const { code, err } = await stowage(CREATE.with(4, 'n{1..1000}').with(6, '0'));
    expect(code).toBe(2);
    expect(err.trimEnd().split('\n')).toHaveLength(11);
    expect(err).toContain('… and 990 more\n');
  });

  test('--wait waits for all Volumes concurrently', async () => {
    const step = (name: string, status: Volume['status'] & object): WatchEvent => ({
      type: 'MODIFIED',
      object: volumeNamed(name, status),
    });
    const { code, out, err } = await stowage([...BATCH, '--wait', '-o', 'name'], {
      events: [
        step('data1-n1', { phase: 'Available', ...ready('True', 'Available') }),
        step('data1-n2', { phase: 'Failed', ...ready('False', 'CreationError', 'no space') }),
        step('data1-n3', { phase: 'Available', ...ready('True', 'Available') }),
      ],
    });
    expect({ code, out }).toEqual({ code: 7, out: `${FULL_NAME}-n1\n${FULL_NAME}-n3\n` });
    expect(err).toContain('data1-n3: Unknown\ndata1-n1: Available\n');
    expect(err).toContain('error: Volume data1-n2 failed: CreationError: no space\n');
    expect(err).toContain('error: 1 of 3 failed\n');
  });
});

describe('create volume without --storage-class', () => {
  const WITHOUT = CREATE.slice(0, -2);
  const objects = {
    'storageclasses/slow': classNamed('slow'),
    'storageclasses/fast': classNamed(
      'fast',
      {},
      { 'storageclass.kubernetes.io/is-default-class': 'true' },
    ),
    'storageclasses/cloud': classNamed('cloud', { provisioner: 'ebs.csi.aws.com' }),
  };

  test('lists the existing classes, and chooses none, not even the only one', async () => {
    const { code, err, requests } = await stowage(WITHOUT, { objects });
    expect(code).toBe(2);
    expect(err).toBe(
      'error: missing: --storage-class\nhint: Set --storage-class to one for Volumes: fast (default), slow\n',
    );
    expect(requests.map(({ what }) => what)).toEqual(['list storageclasses/*']);
    const only = { 'storageclasses/slow': objects['storageclasses/slow'] };
    expect(await stowage(WITHOUT, { objects: only })).toMatchObject({ code: 2, out: '' });
  });

  test('prints how to create a class if there is none', async () => {
    expect((await stowage(WITHOUT)).err).toContain('stowage create storageclass NAME --static');
  });

  test('names the missing flag even if the cluster does not answer', async () => {
    const failures = { 'list storageclasses/*': new Error('gone') };
    expect(await stowage(WITHOUT, { failures })).toMatchObject({
      code: 2,
      err: 'error: missing: --storage-class\n',
    });
  });
});

describe('interactive create volume', () => {
  const away = new NodeError('unreachable', 'n1', 'node n1 did not answer', {
    hint: 'Look at it.',
  });
  const executor = fakeExecutor({ n1: away });
  const objects = { 'storageclasses/fast': classNamed('fast') };

  test('prompts for each missing flag', async () => {
    const { code, out, questions, requests } = await stowage(['create', 'volume'], {
      tty: true,
      objects,
      executor,
      answers: [
        'data_1',
        'data1',
        'N1',
        'n1',
        'sparse',
        '10GB',
        '0',
        '2Gi',
        'fast',
        'Always',
        true,
      ],
    });
    expect({ code, out }).toEqual({ code: 0, out: `${FULL_NAME} created\n` });
    expect(requests.at(-1)?.object).toMatchObject({
      metadata: { name: 'data1' },
      spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '2Gi' } },
    });
    expect([...new Set(questions)]).toEqual([
      'Name of the Volume:',
      'Node that holds the storage:',
      'Kind of storage:',
      'Size, such as 10Gi:',
      'Storage class:',
      'When to attach the device to its node:',
      'Create it?',
    ]);
  });

  test('prompts for no flag that is given', async () => {
    expect(await stowage(CREATE, { tty: true })).toMatchObject({ code: 0, questions: [] });
    const world = { tty: true, objects, executor, answers: ['fast', true] };
    const { questions } = await stowage(CREATE.slice(0, -2), world);
    expect(questions).toEqual(['Storage class:', 'Create it?']);
  });

  test('prompts for a class name if there is no class to choose', async () => {
    const { requests } = await stowage(CREATE.slice(0, -2), {
      tty: true,
      executor,
      answers: ['later', true],
    });
    expect(requests.at(-1)?.object).toMatchObject({ spec: { storageClassName: 'later' } });
  });

  test.each<[string, Parameters<typeof stowage>[1]]>([
    ['standard input is a pipe', { tty: true, stdin: 'data1\n' }],
    ['there is no terminal', {}],
    ['the terminal is dumb', { tty: true, env: { TERM: 'dumb' } }],
  ])('does not prompt if %s', async (_, world) => {
    expect(await stowage(['create', 'volume'], world)).toMatchObject({
      code: 2,
      out: '',
      questions: [],
      err: expect.stringContaining(
        'missing: NAME, --node, --size or --device or --vg, --storage-class',
      ),
    });
  });
});
