import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { VolumeStatus } from '../../src/api/volume.ts';
import { SignalError } from '../../src/cli/signals.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { SudoRefusal } from '../../src/nodes/sudo.ts';
import { nodeNamed } from '../support/cluster-objects.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { type FakeNodeAnswers, fakeExecutor, missing, result } from '../support/fake-executor.ts';
import { stowage } from '../support/fake-io.ts';
import { refusal } from '../support/refusals.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { volumeNamed } from '../support/volumes.ts';

const FOLDER = '/var/lib/metalk8s/storage/sparse';
const GIB = 1024 ** 3;

/** A node whose file system has that much room, in blocks of 4096 bytes; `there`: the folders that are made. */
const withFree = (bytes: number, there = FOLDER): FakeNodeAnswers => ({
  probes: Object.fromEntries(
    [FOLDER, '/var/lib/metalk8s/storage', '/var/lib/metalk8s', '/var/lib', '/var'].map((path) => [
      `free ${path}`,
      there.startsWith(path) ? result(0, `${bytes / 4096}|4096\n`) : missing,
    ]),
  ),
});
const volumeOn = (name: string, nodeName: string, status?: VolumeStatus) => {
  const volume = volumeNamed(name, status);
  return { ...volume, spec: { ...volume.spec, nodeName } };
};

const objects = {
  'nodes/n2': nodeNamed('n2', {
    annotations: { 'stowage.dev/paused': 'true', 'stowage.dev/address': '10.0.0.2' },
  }),
  'nodes/n1': nodeNamed('n1'),
  'volumes/a': volumeOn('a', 'n1', { phase: 'Failed' }),
  'volumes/b': volumeOn('b', 'n1'),
  // Its node is none of the cluster any more.
  'volumes/c': volumeOn('c', 'gone'),
  'volumes/moved': volumeOn('moved', 'n1', { prepared: { node: 'n2', paths: [], identity: '' } }),
};
const away = new NodeError('unreachable', 'gone', 'node gone: no route to host\u001b');
const executor = () =>
  fakeExecutor({ n1: withFree(9.96875 * GIB), n2: withFree(300 * GIB, '/var/lib'), gone: away });

const get = (argv: string[] = [], world: Parameters<typeof stowage>[1] = {}) =>
  stowage(['get', 'nodes', ...argv], { objects, executor: executor(), ...world });

test('a table of Nodes and of what else has Volumes', async () => {
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

test('a wide table', async () => {
  const { out } = await get(['-o', 'wide', '--no-headers']);
  expect(out.split('\n').map((line) => line.split(/ {3,}/).slice(7))).toEqual([
    ['<none>', '<none>', 'node gone: no route to host\ufffd'],
    ['<none>', FOLDER, '<none>'],
    ['10.0.0.2', FOLDER, '<none>'],
    [],
  ]);
});

test('reports annotations that ssh does not follow, beside other messages', async () => {
  const annotations = { 'stowage.dev/port': '0x16' };
  const said = 'the annotation stowage.dev/port of its Node is "0x16", which is not a decimal number';
  const message = async (name: string) => {
    const there = { [`nodes/${name}`]: nodeNamed(name, { annotations }) };
    return JSON.parse((await get([name, '-o', 'json'], { objects: there })).out).message;
  };
  expect(await message('n1')).toMatch(new RegExp(`^${said}`));
  expect(await message('gone')).toContain(`${away.message}; ${said}`);
});

describe('data', () => {
  const n2 = {
    name: 'n2',
    transport: 'ssh',
    address: '10.0.0.2',
    reachable: true,
    free: { directory: FOLDER, bytes: 300 * GIB },
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

  test('of all', async () => {
    const { items } = JSON.parse((await get(['-o', 'json'])).out);
    expect(items).toMatchObject([gone, { name: 'n1' }, n2]);
    expect(parse((await get(['-o', 'yaml'])).out).items).toEqual(items);
  });

  test('of one that was named is of that one', async () => {
    expect(JSON.parse((await get(['n2', '-o', 'json'])).out)).toEqual(n2);
  });

  test('of several is names', async () => {
    expect((await get(['n{1..2}', '-o', 'name'])).out).toBe('node/n1\nnode/n2\n');
  });
});

test.each([
  ['name', ['gone', 'n1', 'n2']],
  ['free', ['gone', 'n1', 'n2']],
  ['volumes', ['gone', 'n2', 'n1']],
])('--sort-by %s', async (field, order) => {
  const { out } = await get(['--sort-by', field, '-o', 'json']);
  expect(JSON.parse(out).items.map(({ name }: { name: string }) => name)).toEqual(order);
});

test('a selector is the server’s to apply, and leaves out what is no Node', async () => {
  const { out, requests } = await get(['-l', 'rack=1', '-o', 'name']);
  expect(out).toBe('node/n1\nnode/n2\n');
  expect(requests[0]).toMatchObject({ what: 'list nodes/*', options: { labelSelector: 'rack=1' } });
});

test('one that is nothing in the cluster is asked, and is not found if it does not answer', async () => {
  const lost = new NodeError('unreachable', 'x', 'node x: unknown host');
  const { code, out, err } = await get(['n1', 'x', '-o', 'name'], {
    executor: fakeExecutor({ n1: withFree(GIB), x: lost }),
  });
  expect({ code, out }).toEqual({ code: 7, out: 'node/n1\n' });
  expect(err).toContain(
    'error: Node x is not in the cluster, has no Volumes, and is not reached: node x: unknown',
  );
  expect(await get(['x'], { executor: fakeExecutor({ x: lost }) })).toMatchObject({ code: 3, out: '' });
  expect(await get(['x'], { executor: fakeExecutor({ x: withFree(GIB) }) })).toMatchObject({ code: 0 });
});

test('reports a node that refuses commands as reachable, with the reason', async () => {
  const refusal = new SudoRefusal('admin', 'stat', 'sudo: a password is required').on('n1');
  const nodes = {
    n1: refusal,
    n2: { probes: { ...withFree(0).probes, [`free ${FOLDER}`]: result(1, '', 'EIO') } },
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
  expect(err).toBe('note: not looked at: nodes is forbidden\n');
  expect(await get(['-l', 'a=b'], { failures })).toMatchObject({ code: 4 });
});

test('none', async () => {
  expect(await get([], { objects: {} })).toMatchObject({ code: 0, out: '', err: 'No nodes found\n' });
});

describe('nodes that do not answer', () => {
  /** Asks n0, n1, … and answers after the ms given for each, or never. */
  function slow(delays: (number | undefined)[], clock: FakeClock): Executor {
    return {
      ...fakeExecutor({}),
      async observe(name, probes) {
        const delay = delays[Number(name.slice(1))];
        if (delay === undefined) return new Promise(() => {});
        await clock.sleep(delay);
        return fakeExecutor({ [name]: withFree(GIB) }).observe(name, probes);
      },
    };
  }
  const nodes = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`nodes/n${index}`, nodeNamed(`n${index}`)]),
    );

  test('are waited for side by side, and no longer than that', async () => {
    const clock = new FakeClock();
    const delays = [100, undefined, undefined, 4000, 6000];
    const running = get(['-o', 'json'], { objects: nodes(5), clock, executor: slow(delays, clock) });
    let ended = false;
    void running.then(() => {
      ended = true;
    });
    await clock.advance(4999);
    expect(ended).toBe(false);
    await clock.advance(1);
    const { code, out } = await running;
    expect(code).toBe(0);
    const { items } = JSON.parse(out);
    expect(items.map(({ reachable }: { reachable: boolean }) => reachable)).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(items[1].message).toBe('no answer within 5 s');
  });

  test('have as long as --timeout gives', async () => {
    const clock = new FakeClock();
    const running = get(['--timeout', '1s', '-o', 'json'], {
      objects: nodes(2),
      clock,
      executor: slow([100, undefined], clock),
    });
    await clock.advance(1000);
    expect(JSON.parse((await running).out).items[1].message).toBe('no answer within 1 s');
  });

  test('are canceled by a signal', async () => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const running = get([], {
      objects: nodes(1),
      clock,
      executor: slow([undefined], clock),
      signal: aborter.signal,
    });
    await clock.advance(100);
    aborter.abort(new SignalError('SIGINT'));
    expect(await running).toMatchObject({ code: 130, out: '' });
  });
});

test('passes flags to the node executor, and closes it', async () => {
  const reached = executor();
  const { nodesAs } = await get(['--transport', 'local', '--local-node', 'n1'], { executor: reached });
  expect(nodesAs).toMatchObject({ transport: 'local', localNodes: ['n1'] });
  expect(reached.closed).toBe(true);
  expect((await get(['--transport', 'local'])).code).toBe(2);
});

test('takes connection settings from the environment and a file, too', async () => {
  const folder = await temporaryFolder('get-nodes');
  try {
    const file = join(folder.path, 'stowage.yaml');
    await writeFile(file, 'sshConfig: /etc/by-file\nnodes: {n1: {address: 10.9.9.9, port: 2222}}\n');
    const { out, nodesAs } = await get(['n1', 'n2', '--config', file, '-o', 'json']);
    expect(nodesAs?.sshConfig).toBe('/etc/by-file');
    expect(nodesAs?.addressOf?.('n1')).toEqual({ host: '10.9.9.9', port: 2222 });
    expect(nodesAs?.addressOf?.('n2')).toEqual({});
    const addresses = JSON.parse(out).items.map(({ address }: { address?: string }) => address);
    expect(addresses).toEqual(['10.9.9.9', '10.0.0.2']);
    const env = { STOWAGE_CONFIG: file, STOWAGE_SSH_CONFIG: '/etc/by-environment', STOWAGE_OUTPUT: 'json' };
    const byEnvironment = await get(['n1'], { env });
    expect(byEnvironment.nodesAs?.sshConfig).toBe('/etc/by-environment');
    expect(byEnvironment.nodesAs?.addressOf?.('n1')).toEqual({ host: '10.9.9.9', port: 2222 });
    expect(byEnvironment.out).toMatch(/^NAME /);
    expect((await get(['n1', '--ssh-config', '/etc/by-flag'], { env })).nodesAs?.sshConfig).toBe(
      '/etc/by-flag',
    );
    const wrong = await get(['n1'], { env: { STOWAGE_TRANSPORT: 'pigeon' } });
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("$STOWAGE_TRANSPORT 'pigeon'") });
  } finally {
    await folder.remove();
  }
});

describe('--watch', () => {
  /** A node whose room is asked of each time; `undefined`: it does not answer. */
  const changing = (bytes: (number | undefined)[]) => ({
    ...fakeExecutor({}),
    observe: async (...[name, probes]: Parameters<Executor['observe']>) => {
      const now = bytes.length > 1 ? bytes.shift() : bytes[0];
      if (now === undefined) throw away;
      return fakeExecutor({ [name]: withFree(now) }).observe(name, probes);
    },
  });
  const one = { 'nodes/n1': nodeNamed('n1') };
  const start = (
    argv: string[],
    bytes: (number | undefined)[],
    world: Parameters<typeof stowage>[1] = {},
  ) => {
    const clock = new FakeClock();
    const aborter = new AbortController();
    const executor = changing(bytes);
    const running = get(['-w', ...argv], { objects: one, clock, signal: aborter.signal, executor, ...world });
    return { clock, running, interrupt: () => aborter.abort(new SignalError('SIGINT')) };
  };
  const looks = async (clock: FakeClock, count: number) => {
    await until(() => clock.sleeping.includes(10_000));
    for (let look = 0; look < count; look++) {
      await clock.advance(10_000);
      await until(() => clock.sleeping.includes(10_000));
    }
  };

  test('prints a line for each change that the table shows', async () => {
    const { clock, running, interrupt } = start(
      [],
      [1.625 * GIB, 1.625 * GIB - 4096, 2 * GIB, undefined, GIB],
    );
    await looks(clock, 4);
    interrupt();
    const { code, out } = await running;
    expect(code).toBe(130);
    expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(2, 4))).toEqual([
      ['REACHABLE', 'FREE'],
      ['yes', '1.6Gi'],
      ['yes', '2Gi'],
      ['no', '<none>'],
      ['yes', '1Gi'],
      [],
    ]);
  });

  test('writes a document for each change, or the name of what is new', async () => {
    const bytes = [GIB, GIB, GIB - 4096];
    const asJson = start(['-o', 'json'], [...bytes]);
    await looks(asJson.clock, 2);
    asJson.interrupt();
    const documents = (await asJson.running).out.trim().split(/\n(?=\{)/);
    expect(documents.map((text) => JSON.parse(text).free.bytes)).toEqual([GIB, GIB - 4096]);
    const names = start(['-o', 'name'], [...bytes]);
    await looks(names.clock, 2);
    names.interrupt();
    expect((await names.running).out).toBe('node/n1\n');
  });

  test('draws a table again in its place on a terminal', async () => {
    const { clock, running, interrupt } = start(['--no-headers'], [GIB, 2 * GIB], { tty: true });
    await looks(clock, 1);
    interrupt();
    const [before, after, ...more] = (await running).out.split('\n\u001b[1A\r\u001b[0J');
    expect(before).toMatch(/^n1 .*1Gi/);
    expect(after).toMatch(/^n1 .*2Gi.*\n$/);
    expect(more).toEqual([]);
  });

  test('goes on after a failed request, but not after a refused one', async () => {
    const failures: Record<string, Error> = {};
    const { clock, running, interrupt } = start([], [GIB, 2 * GIB], { failures });
    await until(() => clock.sleeping.includes(10_000));
    failures['list volumes/*'] = new Error('connection refused');
    await looks(clock, 1);
    delete failures['list volumes/*'];
    await looks(clock, 1);
    interrupt();
    const { err, out } = await running;
    expect(err).toBe('warning: not looked at, trying again: connection refused\n');
    expect(out).toMatch(/1Gi.*\n.*2Gi/);

    const stopped = start([], [GIB], { failures });
    await until(() => stopped.clock.sleeping.includes(10_000));
    failures['list volumes/*'] = refusal(403);
    await stopped.clock.advance(10_000);
    expect((await stopped.running).code).toBe(4);
  });

  test('throws what the first request throws', async () => {
    const lost = new NodeError('unreachable', 'x', 'node x: unknown host');
    expect(await get(['x', '-w'], { executor: fakeExecutor({ x: lost }) })).toMatchObject({
      code: 3,
      out: '',
    });
  });
});
