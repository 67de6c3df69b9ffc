import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { NodeError } from '../../../../src/nodes/errors.ts';
import { SudoRefusal } from '../../../../src/nodes/sudo.ts';
import { nodeNamed } from '../../../support/cluster-objects.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { fakeExecutor, result } from '../../../support/fake-executor.ts';
import { refusal } from '../../../support/refusals.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { away, DIRECTORY, executor, GIB, get, withFree } from './cluster-nodes.ts';

test('get nodes lists Nodes, and other nodes that have Volumes', async () => {
  const clock = new FakeClock();
  const { code, out, err } = await get([], { clock });
  expect(clock.sleeping).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(
    [
      'NAME   TRANSPORT   REACHABLE   FREE     VOLUMES   FAILED   PAUSED',
      'gone   ssh         no          <none>   1         0        no',
      'n1     ssh         yes         9.9Gi    2         1        no',
      'n2     ssh         yes         300Gi    1         0        yes',
      '',
    ].join('\n'),
  );
});

test('shows address, directory and message in a wide table', async () => {
  const { out } = await get(['-o', 'wide', '--no-headers']);
  expect(out.split('\n').map((line) => line.split(/ {3,}/).slice(7))).toEqual([
    ['<none>', '<none>', 'node gone: no route to host\ufffd'],
    ['<none>', DIRECTORY, '<none>'],
    ['10.0.0.2', DIRECTORY, '<none>'],
    [],
  ]);
});

test('reports invalid annotations beside other messages', async () => {
  const annotations = { 'stowage.dev/port': '0x16' };
  const said =
    'the annotation stowage.dev/port of its Node is "0x16", but must be a decimal number';
  const message = async (name: string) => {
    const there = { [`nodes/${name}`]: nodeNamed(name, { annotations }) };
    return JSON.parse((await get([name, '-o', 'json'], { objects: there })).out).message;
  };
  expect(await message('n1')).toMatch(new RegExp(`^${said}`));
  expect(await message('gone')).toContain(`${away.message}; ${said}`);
});

describe('get nodes as data', () => {
  const n2 = {
    name: 'n2',
    transport: 'ssh',
    address: '10.0.0.2',
    reachable: true,
    free: { directory: DIRECTORY, bytes: 300 * GIB },
    paused: true,
    volumes: { total: 1, failed: 0 },
  };
  const gone = {
    name: 'gone',
    transport: 'ssh',
    reachable: false,
    message: away.message,
    paused: false,
    volumes: { total: 1, failed: 0 },
  };

  test('is a list of items in JSON and YAML', async () => {
    const { items } = JSON.parse((await get(['-o', 'json'])).out);
    expect(items).toMatchObject([gone, { name: 'n1' }, n2]);
    expect(parse((await get(['-o', 'yaml'])).out).items).toEqual(items);
  });

  test('is a single object for one name', async () => {
    expect(JSON.parse((await get(['n2', '-o', 'json'])).out)).toEqual(n2);
  });

  test('is one name per line with -o name', async () => {
    expect((await get(['n{1..2}', '-o', 'name'])).out).toBe('node/n1\nnode/n2\n');
  });
});

test.each([
  ['name', ['gone', 'n1', 'n2']],
  ['free', ['gone', 'n1', 'n2']],
  ['volumes', ['gone', 'n2', 'n1']],
])('get nodes --sort-by %s sorts the items', async (field, order) => {
  const { out } = await get(['--sort-by', field, '-o', 'json']);
  expect(JSON.parse(out).items.map(({ name }: { name: string }) => name)).toEqual(order);
});

test('get nodes -l sends the selector to the server, and omits names without a Node', async () => {
  const { out, requests } = await get(['-l', 'rack=1', '-o', 'name']);
  expect(out).toBe('node/n1\nnode/n2\n');
  expect(requests[0]).toMatchObject({ what: 'list nodes/*', options: { labelSelector: 'rack=1' } });
});

test('get nodes probes an unknown name, and exits with 3 if it does not answer', async () => {
  const lost = new NodeError('unreachable', 'x', 'node x: unknown host');
  const { code, out, err } = await get(['n1', 'x', '-o', 'name'], {
    executor: fakeExecutor({ n1: withFree(GIB), x: lost }),
  });
  expect({ code, out }).toEqual({ code: 7, out: 'node/n1\n' });
  expect(err).toContain(
    'error: Node x is not in the cluster, has no Volumes, and is not reached: node x: unknown',
  );
  expect(await get(['x'], { executor: fakeExecutor({ x: lost }) })).toMatchObject({
    code: 3,
    out: '',
  });
  expect(await get(['x'], { executor: fakeExecutor({ x: withFree(GIB) }) })).toMatchObject({
    code: 0,
  });
});

test('reports a node that refuses commands as reachable, with the reason', async () => {
  const refusal = new SudoRefusal('admin', 'stat', 'sudo: a password is required').on('n1');
  const nodes = {
    n1: refusal,
    n2: { probes: { ...withFree(0).probes, [`free ${DIRECTORY}`]: result(1, '', 'EIO') } },
  };
  const { code, out } = await get(['n1', 'n2', '-o', 'json'], { executor: fakeExecutor(nodes) });
  expect(code).toBe(0);
  expect(JSON.parse(out).items).toMatchObject([
    { reachable: true, message: expect.stringContaining('sudo does not let user admin run') },
    { reachable: true, message: expect.stringContaining('EIO') },
  ]);
});

test('notes that Nodes may not be read, and shows those that have Volumes', async () => {
  const failures = { 'list nodes/*': refusal(403, 'nodes is forbidden') };
  const { code, out, err } = await get(['-o', 'name'], { failures });
  expect({ code, out }).toEqual({ code: 0, out: 'node/gone\nnode/n1\nnode/n2\n' });
  expect(err).toBe('note: not checked: nodes is forbidden\n');
  expect(await get(['-l', 'a=b'], { failures })).toMatchObject({ code: 4 });
});

test('notes that there is no Node', async () => {
  expect(await get([], { objects: {} })).toMatchObject({
    code: 0,
    out: '',
    err: 'No nodes found\n',
  });
});

test('passes flags to the node executor, and closes it', async () => {
  const reached = executor();
  const { nodesAs } = await get(['--transport', 'local', '--local-node', 'n1'], {
    executor: reached,
  });
  expect(nodesAs).toMatchObject({ transport: 'local', localNodes: ['n1'] });
  expect(reached.closed).toBe(true);
  expect((await get(['--transport', 'local'])).code).toBe(2);
});

test('takes connection settings from the environment and a file, too', async () => {
  const folder = await temporaryDirectory('get-nodes');
  try {
    const file = join(folder.path, 'stowage.yaml');
    await writeFile(
      file,
      'sshConfig: /etc/by-file\nnodes: {n1: {address: 10.9.9.9, port: 2222}}\n',
    );
    const { out, nodesAs } = await get(['n1', 'n2', '--config', file, '-o', 'json']);
    expect(nodesAs?.sshConfig).toBe('/etc/by-file');
    expect(nodesAs?.addressOf?.('n1')).toEqual({ host: '10.9.9.9', port: 2222 });
    expect(nodesAs?.addressOf?.('n2')).toEqual({});
    const addresses = JSON.parse(out).items.map(({ address }: { address?: string }) => address);
    expect(addresses).toEqual(['10.9.9.9', '10.0.0.2']);
    const env = {
      STOWAGE_CONFIG: file,
      STOWAGE_SSH_CONFIG: '/etc/by-environment',
      STOWAGE_OUTPUT: 'json',
    };
    const byEnvironment = await get(['n1'], { env });
    expect(byEnvironment.nodesAs?.sshConfig).toBe('/etc/by-environment');
    expect(byEnvironment.nodesAs?.addressOf?.('n1')).toEqual({ host: '10.9.9.9', port: 2222 });
    expect(byEnvironment.out).toMatch(/^NAME /);
    expect((await get(['n1', '--ssh-config', '/etc/by-flag'], { env })).nodesAs?.sshConfig).toBe(
      '/etc/by-flag',
    );
    const wrong = await get(['n1'], { env: { STOWAGE_TRANSPORT: 'pigeon' } });
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining("$STOWAGE_TRANSPORT 'pigeon'"),
    });
  } finally {
    await folder.remove();
  }
});
