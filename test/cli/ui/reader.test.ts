import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/api/meta.ts';
import { run as runProgram } from '../../../src/cli/run.ts';
import { createRunCommand, type RunCommand } from '../../../src/cli/ui/run-command.ts';
import { grantRow } from '../../../src/cli/ui/screens/grants.ts';
import { checkRows, nodeAccess } from '../../../src/cli/ui/screens/node-check.ts';
import { nodeDetail } from '../../../src/cli/ui/screens/node-detail.ts';
import { nodeFlagsOf } from '../../../src/cli/ui/screens/node-flags.ts';
import { populatorRow } from '../../../src/cli/ui/screens/populators.ts';
import type { ReadRoute } from '../../../src/cli/ui/screens/read-route.ts';
import { createReader } from '../../../src/cli/ui/screens/reader.ts';
import { usageFigures } from '../../../src/cli/ui/screens/volume-usage.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { fakeExecutor, result } from '../../support/fake-executor.ts';
import { fakeIo, type World } from '../../support/fake-io.ts';
import { refusal } from '../../support/refusals.ts';
import { ready, volumeNamed } from '../../support/volumes.ts';

/** Returns a reader of a world; `run` replaces Stowage. */
async function reading(world: World, run?: RunCommand) {
  const { io, outcome } = fakeIo(world);
  const connection = await io.connect({});
  const command = run ?? createRunCommand(runProgram, io, connection, { color: true });
  const read = createReader({
    client: connection.client,
    io,
    run: command,
    runOnNode: command,
    nodeFlags: () => nodeFlagsOf(io.env),
  });
  const ask = (what: ReadRoute['what'], name = '', namespace = '') =>
    read({ what, name, namespace });
  return { ask, outcome };
}

const CLAIM: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  metadata: { namespace: 'db', name: 'data-0' },
  ...{ spec: { volumeName: 'data1' }, status: { phase: 'Bound' } },
} as KubeObject;

describe('a claim', () => {
  test('is explained and described as by the commands, from reads only', async () => {
    const { ask, outcome } = await reading({
      objects: { 'persistentvolumeclaims/data-0': CLAIM, 'volumes/data1': volumeNamed('data1') },
    });
    expect(await ask('claim', 'data-0', 'db')).toEqual({
      why: { found: expect.objectContaining({ cause: expect.any(String) }) },
      description: { found: expect.stringMatching(/^Name: +data-0\nNamespace: +db\n/) },
    });
    const writes = outcome.requests.filter(({ what }) => /^(create|patch|delete)/.test(what));
    expect(writes).toEqual([]);
    expect(outcome.nodesAs).toBeUndefined();
  });

  test.each<[string, World, object]>([
    ['does not exist', {}, { code: 'not-found' }],
    [
      'may not be read',
      { failures: { 'get persistentvolumeclaims/data-0': refusal(403) } },
      { code: 'forbidden' },
    ],
  ])('a claim that %s is an error of that code', async (_why, world, error) => {
    const { ask } = await reading(world);
    await expect(ask('claim', 'data-0', 'db')).rejects.toMatchObject(error);
  });
});

describe('a node', () => {
  test('has its conditions, problems before the others, without a request to it', async () => {
    const node = nodeNamed('n1', { annotations: { 'stowage.dev/paused': 'disks' } });
    const conditions = ['NetworkUnavailable', 'DiskPressure', 'Ready'].map((type) => ({
      ...{ type, status: type === 'NetworkUnavailable' ? 'False' : 'True', reason: 'Why' },
    }));
    const { ask, outcome } = await reading({
      objects: { 'nodes/n1': { ...node, status: { conditions } } as KubeObject },
    });
    expect(await ask('node', 'n1')).toMatchObject({
      conditions: {
        found: [
          { type: 'Ready', reason: 'Why' },
          { type: 'DiskPressure' },
          { type: 'NetworkUnavailable' },
        ],
      },
      paused: 'disks',
      description: { found: expect.stringContaining('n1') },
    });
    expect(outcome.nodesAs).toBeUndefined();
  });

  test.each([
    [{ forbidden: 'no' }, 'no'],
    [{ absent: true } as const, ''],
  ])('whose object is %j has no conditions', (read, missing) => {
    expect(nodeDetail(read)).toEqual({ conditions: { missing }, paused: '' });
  });

  const away = new NodeError('unreachable', 'n1', 'node n1 did not answer', { hint: 'Go there.' });

  test('a node that does not answer is a failed check with its fix', async () => {
    const { ask } = await reading({
      objects: { 'nodes/n1': nodeNamed('n1') },
      executor: fakeExecutor({ n1: away }),
    });
    expect(await ask('check', 'n1')).toEqual({
      access: {
        found: expect.objectContaining({ reachable: false, message: 'node n1 did not answer' }),
      },
      checks: {
        found: [
          {
            ...{ check: 'reachable', ok: false, message: 'node n1 did not answer' },
            ...{ hint: expect.stringContaining('Go there.'), command: '' },
          },
        ],
      },
      at: '2030-01-01T00:00:00.000Z',
      note: '',
    });
    await expect(ask('devices', 'n1')).rejects.toThrow('did not answer');
  });

  const DEVICES = {
    blockdevices: [
      { kname: 'sda', type: 'disk', size: 2 ** 31, ro: false, mountpoint: '/' },
      { kname: 'sdb', type: 'disk', size: 2 ** 31, ro: false, fstype: 'ext4', uuid: 'u' },
      { kname: 'sdc', type: 'disk', size: 2 ** 31, ro: false, model: 'Fast\u001b[2J' },
    ],
  };
  const LINK = '/dev/disk/by-id/ata-Fast_S3';

  test('has the devices that the wizard offers, and why others are refused', async () => {
    const raw = volumeNamed('data1');
    const { sparseLoopDevice: _, ...spec } = raw.spec;
    const executor = fakeExecutor({
      n1: {
        probes: {
          'offered devices': result(0, JSON.stringify(DEVICES)),
          'offered links': result(0, `${LINK} ../../sdb\n`),
        },
      },
    });
    const { ask } = await reading({
      objects: {
        'nodes/n1': nodeNamed('n1'),
        'volumes/data1': {
          ...raw,
          spec: { ...spec, rawBlockDevice: { devicePath: LINK } },
        } as KubeObject,
      },
      executor,
    });
    const none = { links: [], model: '', carries: '', bytes: 2 ** 31, use: '' };
    expect(await ask('devices', 'n1')).toEqual({
      devices: [
        { ...none, path: '/dev/sda', use: 'mounted at /' },
        { ...none, path: '/dev/sdb', links: [LINK], carries: 'ext4:u', use: "Volume data1's" },
        { ...none, path: '/dev/sdc', model: 'Fast\ufffd[2J' },
      ],
      at: '2030-01-01T00:00:00.000Z',
      note: '',
    });
    expect(executor.closed).toBe(true);
  });
});

test('a Volume is measured as by the command, with notes about what is unknown', async () => {
  const { ask } = await reading({
    objects: { 'volumes/data1': volumeNamed('data1', ready('False', 'New')) },
    executor: fakeExecutor({ n1: { probes: {} } }),
  });
  expect(await ask('usage', 'data1')).toEqual({
    figures: [['Size', '1Gi']],
    at: '2030-01-01T00:00:00.000Z',
    note: expect.stringContaining('data1'),
  });
  await expect(ask('usage', 'none')).rejects.toMatchObject({ code: 'not-found' });
});

test('figures have their labels, and unknown ones are left out', () => {
  const used = {
    ...{ bytes: 2 ** 20, availableBytes: 2 ** 21, capacityBytes: 2 ** 22, percent: 34 },
    ...{ inodes: { used: 1200, total: 65536, percent: 2 }, measured: '2030-01-01T00:00:00Z' },
  };
  expect(usageFigures({ sizeBytes: 2 ** 22, used, onDiskBytes: 4096 })).toEqual([
    ['Size', '4Mi'],
    ['Used', '1Mi (34 %)'],
    ['Available', '2Mi'],
    ['Inodes', '1,200 of 65,536 (2 %)'],
    ['On disk', '4Ki'],
    ['Measured by the kubelet', '2030-01-01T00:00:00.000Z'],
  ]);
  expect(usageFigures({ used: { bytes: 'x' }, sizeBytes: '<b>' })).toEqual([]);
});

describe('rows of commands', () => {
  const GRANT = {
    ...{ namespace: 'db', name: 'for-web', since: '2030-01-01T00:00:00Z' },
    from: [{ namespace: 'web', for: 'claims' }],
    to: [{ kind: 'VolumeSnapshot', name: 'nightly' }, { kind: 'PersistentVolumeClaim' }],
    usedBy: [{ kind: 'PersistentVolumeClaim', namespace: 'web', name: 'a', source: 'nightly' }],
  };
  const POPULATOR = {
    ...{ name: 'images', group: 'stowage.dev', kind: 'Image', registered: true, builtin: 'Image' },
    claims: [
      { namespace: 'web', name: 'a', source: 'x', phase: 'Pending', waits: true },
      { namespace: 'web', name: 'b', source: 'x', phase: 'Bound', waits: false },
    ],
  };

  test('are grants: who may, and who does', () => {
    expect(grantRow(GRANT)).toEqual({
      name: 'db/for-web',
      from: ['web (claims)'],
      to: ['VolumeSnapshot nightly', 'every PersistentVolumeClaim'],
      usedBy: [{ kind: 'PersistentVolumeClaim', name: 'web/a' }],
      created: '2030-01-01T00:00:00.000Z',
    });
  });

  test('are populators with their claims', () => {
    const claim = (name: string) => ({ kind: 'PersistentVolumeClaim', name });
    expect(populatorRow(POPULATOR)).toEqual({
      ...{ name: 'images', source: 'Image.stowage.dev', by: 'on the node, Image' },
      ...{ registered: true, waiting: [claim('web/a')], filled: [claim('web/b')], created: '' },
    });
    expect(populatorRow({}).by).toBe('others');
  });

  test.each([
    ['grants', ['get', 'grants', '-A', '-o', 'json'], GRANT, [grantRow(GRANT)]],
    ['populators', ['get', 'populators', '-o', 'json'], POPULATOR, [populatorRow(POPULATOR)]],
  ] as const)('%s come from the command, with its notes', async (what, argv, item, rows) => {
    const words: (readonly string[])[] = [];
    const { ask } = await reading({}, async (given) => {
      words.push(given);
      return {
        stdout: JSON.stringify({ items: [item] }),
        stderr: 'Reading …\nnote: not checked: links\n',
        exitCode: 0,
      };
    });
    expect(await ask(what)).toEqual({
      [what]: rows,
      at: '2030-01-01T00:00:00.000Z',
      note: 'not checked: links',
    });
    expect(words).toEqual([argv]);
  });

  test('a failed command is an error with the hint', async () => {
    const error = { code: 'not-found', message: 'This cluster has none', hint: 'Install it.' };
    const { ask } = await reading({}, async () => ({
      ...{ stdout: '', stderr: `${JSON.stringify(error)}\n`, exitCode: 3 },
    }));
    await expect(ask('grants')).rejects.toMatchObject({
      code: 'not-found',
      message: 'This cluster has none. Install it.',
    });
  });
});

const HOSTILE = `<img src=x onerror=alert(1)>\u202e\u0000\u001b[2J${'n'.repeat(3000)}`;

/** Returns all texts in data. */
const textsIn = (data: unknown): string[] =>
  typeof data === 'string'
    ? [data]
    : typeof data === 'object' && data !== null
      ? Object.values(data).flatMap(textsIn)
      : [];

test('hostile texts in the output of commands steer nothing, and are bounded', () => {
  const use = { kind: HOSTILE, namespace: HOSTILE, name: HOSTILE, for: HOSTILE, waits: true };
  const many = Array.from({ length: 5000 }, () => use);
  const check = { check: HOSTILE, ok: 'true', message: HOSTILE, hint: HOSTILE, secret: 'hunter2' };
  const drawn = [
    grantRow({ ...use, from: many, to: many, usedBy: many, since: HOSTILE, secret: 'hunter2' }),
    populatorRow({ ...use, group: HOSTILE, image: HOSTILE, claims: many, builtin: 3 }),
    nodeAccess({ transport: HOSTILE, message: HOSTILE, free: { directory: HOSTILE, bytes: 'x' } }),
    checkRows({ checks: [check, null, 3] }),
    usageFigures({ used: { measured: HOSTILE } }),
  ];
  expect(JSON.stringify(drawn)).not.toContain('hunter2');
  expect(JSON.stringify(drawn).length).toBeLessThan(500_000);
  expect(checkRows({ checks: [check] })[0]?.ok).toBe(false);
  for (const text of textsIn(drawn)) {
    expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
    expect(text.length).toBeLessThanOrEqual(2001);
  }
});

test('equal questions at a time share one answer; others, and later ones, are asked', async () => {
  const runs: string[] = [];
  const ends: (() => void)[] = [];
  const { ask } = await reading({}, async (words) => {
    runs.push(words.join(' '));
    await new Promise<void>((resolve) => ends.push(resolve));
    return { stdout: '{}', stderr: '', exitCode: 0 };
  });
  const all = [ask('check', 'n1'), ask('check', 'n1'), ask('check', 'n2'), ask('usage', 'n1')];
  expect(runs).toEqual([
    'get nodes n1 -o json',
    'check node n1 -o json',
    'get nodes n2 -o json',
    'check node n2 -o json',
    'top volumes n1 -o json',
  ]);
  for (const end of ends.splice(0)) end();
  await Promise.all(all);
  const later = ask('check', 'n1');
  expect(runs).toHaveLength(7);
  for (const end of ends.splice(0)) end();
  await later;
});

test('nodes are reached as the environment says, as by other commands', async () => {
  expect(await nodeFlagsOf({})).toMatchObject({ transport: 'ssh' });
  expect(await nodeFlagsOf({ STOWAGE_TRANSPORT: 'local', STOWAGE_LOCAL_NODE: 'n1' })).toMatchObject(
    { transport: 'local', localNode: ['n1'] },
  );
  await expect(async () => nodeFlagsOf({ STOWAGE_TRANSPORT: 'pigeon' })).rejects.toThrow(
    'STOWAGE_TRANSPORT',
  );
});
