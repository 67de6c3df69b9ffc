import { describe, expect, test } from '@jest/globals';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed } from '../../support/cluster-objects.ts';
import { EMPTY_NODE, fakeExecutor, NO_DEVICE, result } from '../../support/fake-executor.ts';
import { stowage, type World } from '../../support/fake-io.ts';
import { classNamed } from '../../support/volumes.ts';

const UID = '00000000-0000-4000-8000-000000000000';
const FOLDER = '/var/lib/metalk8s/storage/sparse';
const CREATE = [
  'create',
  'volume',
  'data1',
  '--size',
  '1Gi',
  '--storage-class',
  'fast',
  '--dry-run=plan',
];
const ON_N1 = [...CREATE, '--node', 'n1'];
const fast = classNamed('fast', { parameters: { fsType: 'ext4', mkfsOptions: '["-L", "a"]' } });
const away = new NodeError('unreachable', 'n2', 'node n2 did not answer', { hint: 'Look at it.' });
const taken = { ...EMPTY_NODE, file: result(0, 'regular file|4096|9|8|512'), readable: result(0) };

const world = (nodes: Parameters<typeof fakeExecutor>[0], more: World['objects'] = {}) => ({
  executor: fakeExecutor(nodes),
  objects: { 'storageclasses/fast': fast, ...more },
});
const n1 = { n1: { probes: EMPTY_NODE } };

describe('create volume --dry-run=plan', () => {
  test('prints each command after the name of its step', async () => {
    const there = world(n1);
    const { code, out, err, requests } = await stowage(ON_N1, there);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n');
    expect(lines[0]).toBe('# Volume data1 on node n1');
    expect(lines[1]).toBe(`# ${UID} is a placeholder for the UID of the Volume.`);
    expect(lines.slice(2, 4)).toEqual([
      `# create the directory ${FOLDER}`,
      `'mkdir' '-p' '-m' '0700' '--' '${FOLDER}'`,
    ]);
    expect(lines).toContain(
      `'mkfs.ext4' '-q' '-F' '-L' 'a' '-U' '${UID}' '${FOLDER}/${UID}.partial'`,
    );
    // loop0 is in use.
    expect(lines).toContain(`'losetup' '/dev/loop1' '${FOLDER}/${UID}'`);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^printf '%s\\n' '\{"version":1,.*\}' \| 'dd' 'of=.*\.intent\.new' 'conv=fsync' 'status=none'$/,
      ),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^printf '%s\\n' '1073741824' \| 'dd' 'of=.*\.done\.new'/),
    );
    expect(out).not.toContain('only if');
    expect(requests.map(({ what }) => what)).toEqual([
      'get storageclasses/fast',
      'list volumes/*',
      'get nodes/n1',
    ]);
    expect(there.executor.closed).toBe(true);
  });

  test('-v prints the guards before each command', async () => {
    const { out } = await stowage([...ON_N1, '-v'], world(n1));
    const lines = out.split('\n');
    const mkfs = lines.findIndex((line) => line.startsWith("'mkfs.ext4'"));
    expect(lines[mkfs - 1]).toMatch(
      /^# {3}only if 'blkid' '-p' '.*\.partial' exits with status 2; else: .*\.partial is not empty/,
    );
  });

  test('prints the steps as JSON or YAML', async () => {
    const { code, out } = await stowage([...ON_N1, '-o', 'json'], world(n1));
    const data = JSON.parse(out);
    expect({ code, ...data, steps: data.steps[0] }).toEqual({
      code: 0,
      volume: 'data1',
      node: 'n1',
      uid: UID,
      steps: {
        name: `create the directory ${FOLDER}`,
        argv: ['mkdir', '-p', '-m', '0700', '--', FOLDER],
        guards: [],
      },
    });
    expect((await stowage([...ON_N1, '-o', 'yaml'], world(n1))).out).toContain('\nsteps:\n');
  });

  test('needs no --yes for an overwrite, but probes the node', async () => {
    const argv = [
      'create',
      'volume',
      'a',
      '--device',
      '/dev/sdx',
      '--overwrite',
      'ext4',
      '--dry-run=plan',
    ];
    const probes = { ...EMPTY_NODE, ...NO_DEVICE };
    const there = world({ n1: { probes } });
    const { code, err } = await stowage(
      [...argv, '--node', 'n1', '--storage-class', 'fast'],
      there,
    );
    expect(code).toBe(5);
    expect(err).toContain('Volume a: there is no device /dev/sdx');
  });
});

describe('a refusal of create volume --dry-run=plan', () => {
  test('exits with 5 and prints its hint', async () => {
    const { code, out, err } = await stowage(ON_N1, world({ n1: { probes: taken } }));
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toContain(`Volume data1: ${FOLDER}/${UID} already exists`);
    expect(err).toContain('hint: Check the file, and move it away');
  });

  test('is printed as JSON', async () => {
    const { code, out } = await stowage([...ON_N1, '-o', 'json'], world({ n1: { probes: taken } }));
    expect({ code, ...JSON.parse(out) }).toEqual({
      code: 5,
      volume: 'data1',
      node: 'n1',
      reason: expect.objectContaining({ code: 'FileExists' }),
      refusal: expect.stringContaining('already exists'),
      hint: expect.stringContaining('Check the file, and move it away'),
    });
  });

  test('reports an invalid storage class', async () => {
    const bad = classNamed('fast', { parameters: { fsType: 'ntfs' } });
    const { code, err } = await stowage(ON_N1, { ...world(n1, { 'storageclasses/fast': bad }) });
    expect(code).toBe(5);
    expect(err).toContain('unsupported filesystem: ntfs');
    expect(err).toContain('hint: Correct the storage class');
  });

  test('exits with 3 for a missing storage class', async () => {
    expect(await stowage(ON_N1, { executor: fakeExecutor(n1) })).toMatchObject({
      code: 3,
      out: '',
    });
  });
});

describe('the nodes of create volume --dry-run=plan', () => {
  test('fail the command if they do not answer', async () => {
    const there = world({ n1: away });
    const { code, out, err } = await stowage(ON_N1, there);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('error: node n2 did not answer\nhint: Look at it.\n');
    expect(there.executor.closed).toBe(true);
  });

  test('are planned independently, each under its heading', async () => {
    const nodes = { ...n1, n2: away, n3: { probes: taken } };
    const { code, out, err } = await stowage([...CREATE, '--node', 'n{1..3}'], world(nodes));
    expect(code).toBe(7);
    expect(out.split('\n').filter((line) => /^# (Volume|refused)/.test(line))).toEqual([
      '# Volume data1-n1 on node n1',
      '# Volume data1-n3 on node n3',
      `# refused: ${FOLDER}/${UID} already exists, and nothing on the node shows that Stowage created it`,
    ]);
    expect(err).toContain('node n2 did not answer');
    expect(err).toContain('2 of 3 failed');
    const data = JSON.parse(
      (await stowage([...CREATE, '--node', 'n{1..3}', '-o', 'json'], world(nodes))).out,
    );
    expect(data.items.map(({ node }: { node: string }) => node)).toEqual(['n1', 'n3']);
  });

  test('are reached by their annotations and the flags of the daemon', async () => {
    const node = nodeNamed('n1');
    const objects = { 'nodes/n1': node };
    const { nodesAs } = await stowage([...ON_N1, '--ssh-config', '/c'], world(n1, objects));
    expect(nodesAs).toMatchObject({ transport: 'ssh', sshConfig: '/c' });
    expect(nodesAs?.nodeNamed('n1')).toBe(node);
    const local = await stowage(
      [...ON_N1, '--transport', 'local', '--local-node', 'n1'],
      world(n1, objects),
    );
    expect(local.nodesAs).toMatchObject({ transport: 'local', localNodes: ['n1'] });
    expect(local.requests.map(({ what }) => what)).toEqual([
      'get storageclasses/fast',
      'list volumes/*',
    ]);
  });
});

test.each<[string[], string]>([
  [[...ON_N1, '--transport', 'local'], '--transport local and --local-node require each other'],
  [[...ON_N1, '-o', 'name'], '--dry-run=plan takes -o json or -o yaml'],
  [[...ON_N1, '--dry-run=client', '--ssh-config', 'x'], '--ssh-config requires --dry-run=plan'],
  [[...ON_N1, '--dry-run=none', '--transport', 'ssh'], '--transport requires --dry-run=plan'],
  [
    ['create', 'storageclass', 'a', '--static', '--dry-run=plan'],
    'Allowed choices are none, client, server',
  ],
])('%j is wrong usage', async (argv, message) => {
  const { code, err, requests } = await stowage(argv, world(n1));
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
  expect(err).toContain(message);
});
