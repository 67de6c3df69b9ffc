import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { SignalError } from '../../../src/cli/lib/signals.ts';
import { run } from '../../../src/cli/run.ts';
import { boundedExecutor, NODE_TIMEOUT } from '../../../src/cli/support-bundle/check-nodes.ts';
import { connect } from '../../../src/kube/connect.ts';
import { ConnectionError } from '../../../src/kube/errors.ts';
import type { Transport } from '../../../src/kube/transport.ts';
import { NodeError } from '../../../src/nodes/errors.ts';
import { nodeNamed, podNamed } from '../../support/cluster-objects.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { fakeExecutor } from '../../support/fake-executor.ts';
import { fakeIo } from '../../support/fake-io.ts';
import { volumeNamed } from '../../support/volumes.ts';
import { OK } from '../node/check/checked-node.ts';
import { type Planted, type PlantedCluster, plantedCluster, unpacked } from './planted-cluster.ts';

let cluster: PlantedCluster;
afterEach(() => cluster.stop());

const archive = () => join(cluster.folder, 'a.tar.gz');
const start = async (planted: Planted = {}) => {
  cluster = await plantedCluster(planted);
};
const filesIn = async () => (await readdir(cluster.folder)).filter((name) => name !== 'kubeconfig');

const nodeObject = (name: string) => ({
  ...nodeNamed(name),
  status: { nodeInfo: { kubeletVersion: 'v1.33.2', bootID: 'b' } },
});
const daemonPod = (restartCount: number) => ({
  ...podNamed('stowage-0', 'stowage'),
  spec: {
    containers: [
      { name: 'stowage', args: ['--metrics-path=/m'], ports: [{ name: 'http', containerPort: 9 }] },
    ],
  },
  status: { containerStatuses: [{ name: 'stowage', restartCount }] },
});
const POD = '/api/v1/namespaces/stowage/pods/stowage-0';
const LOG = 'logs/stowage_stowage-0_stowage.log';

test('errors.txt and standard error list unread parts, and the exit status is 0', async () => {
  await start({
    objects: { nodes: [nodeObject('n1'), nodeObject('n2')], pods: [daemonPod(0)] },
    refused: { persistentvolumes: 'you may not list\u001b[31m\npersistentvolumes' },
  });
  const executor = fakeExecutor({
    n1: { probes: OK },
    n2: new NodeError('unreachable', 'n2', 'no route to n2'),
  });
  const { code, out, err } = await cluster.stowage(['support-bundle', '-f', archive()], {
    executor,
  });
  expect({ code, out }).toEqual({ code: 0, out: `${archive()}\n` });
  const files = await unpacked(archive(), cluster.folder);
  const problems = files['errors.txt']?.split('\n') ?? [];
  expect(problems).toContain(
    'objects/persistentvolumes.json: you may not list\ufffd[31m persistentvolumes',
  );
  expect(problems).toContain('nodes/n2.json: no route to n2');
  expect(problems).toContainEqual(expect.stringMatching(/^logs\/.*could not find/));
  expect(problems).toContainEqual(expect.stringMatching(/^metrics\/.*could not find/));
  for (const problem of problems.filter((line) => line !== ''))
    expect(err).toContain(`note: not read: ${problem}\n`);
  expect(err).toContain('note: errors.txt in the archive lists what could not be read\n');
  expect(err).toContain('note: look through the archive before you send it');
  expect(JSON.parse(files['nodes/n1.json'] ?? '')).toMatchObject({ node: 'n1' });
  expect(JSON.parse(files['versions.json'] ?? '')).toMatchObject({
    client: { version: expect.any(String), node: process.version },
    server: { version: 'v1.33.1' },
    nodes: [{ name: 'n1', kubeletVersion: 'v1.33.2' }, { name: 'n2' }],
  });
  expect(files['README.txt']).toContain('LOOK THROUGH IT BEFORE YOU SEND IT');
});

test('without problems, there is no errors.txt', async () => {
  await start();
  const { code, err } = await cluster.stowage(['support-bundle', '-f', archive(), '--no-nodes']);
  expect(code).toBe(0);
  expect(err).not.toContain('errors.txt');
  expect(await unpacked(archive(), cluster.folder)).not.toHaveProperty(['errors.txt']);
});

test('--no-nodes connects to no node', async () => {
  await start({ objects: { nodes: [nodeObject('n1')] } });
  const executor = fakeExecutor({ n1: { probes: OK } });
  const argv = ['support-bundle', '-f', archive(), '--no-nodes'];
  expect(await cluster.stowage(argv, { executor })).toMatchObject({ code: 0 });
  expect(executor.asked).toEqual([]);
  expect(Object.keys(await unpacked(archive(), cluster.folder))).not.toContain('nodes/n1.json');
});

test('--no-nodes refuses flags for node access', async () => {
  await start();
  const argv = ['support-bundle', '--no-nodes', '--transport', 'local'];
  expect(await cluster.stowage(argv)).toMatchObject({
    code: 2,
    err: expect.stringContaining('--transport requires a run without --no-nodes'),
  });
});

test('with --transport local, only the nodes of this machine are checked', async () => {
  await start({ objects: { nodes: [nodeObject('n1'), nodeObject('n2')] } });
  const executor = fakeExecutor({ n1: { probes: OK } });
  const argv = ['support-bundle', '-f', archive(), '--transport', 'local', '--local-node', 'n1'];
  expect(await cluster.stowage(argv, { executor })).toMatchObject({ code: 0 });
  const files = Object.keys(await unpacked(archive(), cluster.folder));
  expect(files.filter((path) => path.startsWith('nodes/'))).toEqual(['nodes/n1.json']);
});

test('the archive is for its owner alone, and replaces no file without --force', async () => {
  await start();
  const argv = ['support-bundle', '--no-nodes', '-f', archive()];
  expect(await cluster.stowage(argv)).toMatchObject({ code: 0 });
  expect(((await stat(archive())).mode & 0o777).toString(8)).toBe('600');
  await writeFile(archive(), 'theirs');
  const requests = cluster.seen.length;
  expect(await cluster.stowage(argv)).toMatchObject({
    code: 5,
    out: '',
    err: expect.stringContaining('the file exists\nhint: '),
  });
  expect(cluster.seen.length).toBe(requests);
  expect(await readFile(archive(), 'utf8')).toBe('theirs');
  expect(await cluster.stowage([...argv, '--force'])).toMatchObject({ code: 0 });
  expect(await unpacked(archive(), cluster.folder)).toHaveProperty(['README.txt']);
});

test('the default file has the time in its name, in the current directory', async () => {
  await start();
  const before = process.cwd();
  process.chdir(cluster.folder);
  try {
    expect(await cluster.stowage(['support-bundle', '--no-nodes'])).toMatchObject({
      code: 0,
      out: 'stowage-support-2030-01-01T000000Z.tar.gz\n',
    });
  } finally {
    process.chdir(before);
  }
  expect(await filesIn()).toEqual(['stowage-support-2030-01-01T000000Z.tar.gz']);
});

test('-f - writes the archive to standard output alone', async () => {
  await start();
  const { code, out } = await cluster.stowage(['support-bundle', '--no-nodes', '-f', '-']);
  expect(code).toBe(0);
  await writeFile(archive(), Buffer.from(out, 'latin1'));
  expect(await unpacked(archive(), cluster.folder)).toHaveProperty(['README.txt']);
});

test('no archive is written to a terminal', async () => {
  await start();
  const argv = ['support-bundle', '--no-nodes', '-f', '-'];
  expect(await cluster.stowage(argv, { tty: true })).toMatchObject({ code: 2, out: '' });
  expect(cluster.seen).toEqual([]);
});

test('without an API server, the command fails and leaves no file behind', async () => {
  await start();
  const { io, outcome } = fakeIo({ serverVersion: new ConnectionError('https://c', 'no answer') });
  expect(await run(['support-bundle', '--no-nodes', '-f', archive()], io)).toBe(1);
  expect(outcome.err).toContain('API server https://c: no answer');
  expect(outcome.requests).toEqual([]);
  expect(await filesIn()).toEqual([]);
});

test('a signal leaves no file behind', async () => {
  await start({ objects: { nodes: [nodeObject('n1')] } });
  const aborter = new AbortController();
  const executor = {
    ...fakeExecutor({}),
    async observe() {
      aborter.abort(new SignalError('SIGINT'));
      return new Promise<never>(() => {});
    },
  };
  const argv = ['support-bundle', '-f', archive()];
  const { code } = await cluster.stowage(argv, { executor, signal: aborter.signal });
  expect(code).toBe(130);
  expect(await filesIn()).toEqual([]);
});

test.each<[flags: string[], query: Record<string, string>]>([
  [[], { sinceSeconds: '3600' }],
  [['--since', '90s'], { sinceSeconds: '90' }],
  [['--tail', '10'], { tailLines: '10' }],
  [['--tail', '10', '--since', '1500ms'], { tailLines: '10', sinceSeconds: '2' }],
])('%j limits the log', async (flags, query) => {
  await start({ objects: { pods: [daemonPod(0)] }, texts: { [`${POD}/log`]: 'a\n' } });
  const argv = ['support-bundle', '--no-nodes', '-f', archive(), ...flags];
  expect(await cluster.stowage(argv)).toMatchObject({ code: 0 });
  const logs = cluster.seen.filter(({ url }) => url.startsWith(`${POD}/log?`));
  expect(logs.map(({ url }) => Object.fromEntries(new URL(url, 'http://h').searchParams))).toEqual([
    { container: 'stowage', timestamps: 'true', ...query },
  ]);
  expect((await unpacked(archive(), cluster.folder))[LOG]).toBe('a\n');
});

test.each(['0', '100001', 'x'])('--tail %s is wrong usage', async (tail) => {
  await start();
  expect(await cluster.stowage(['support-bundle', '--tail', tail])).toMatchObject({ code: 2 });
});

test('a pod that restarted has two logs, and its metrics have their own path', async () => {
  await start({
    objects: { pods: [daemonPod(1)] },
    texts: { [`${POD}/log`]: 'a\n', [`${POD}:9/proxy/m`]: 'stowage_up 1\n' },
  });
  await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  const files = await unpacked(archive(), cluster.folder);
  expect(files).toMatchObject({
    [LOG]: 'a\n',
    'logs/stowage_stowage-0_stowage.previous.log': 'a\n',
    'metrics/stowage_stowage-0.txt': 'stowage_up 1\n',
  });
  expect(cluster.seen.filter(({ url }) => url.includes('previous=true'))).toHaveLength(1);
});

test('a long log keeps its end, after a note', async () => {
  // The cut removes more of a line than the note adds.
  const lines = Array.from({ length: 7_000 }, (_, line) => `${'x'.repeat(1_000)} ${line}`);
  await start({ objects: { pods: [daemonPod(0)] }, texts: { [`${POD}/log`]: lines.join('\n') } });
  const { err } = await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  const files = await unpacked(archive(), cluster.folder);
  const log = files[LOG] ?? '';
  const problem = `${LOG}: all but the last 5 MiB\n`;
  expect(files['errors.txt']?.split(problem)).toHaveLength(2);
  expect(err).toContain(`note: not read: ${problem}`);
  expect(log.length).toBeLessThanOrEqual((5 << 20) + 100);
  // A failure would print the log.
  expect(`${log.slice(0, 60)} ${log.slice(-12)}`).toMatch(
    /^\[stowage support-bundle: cut before this line\]\nx+ x+ 6999$/,
  );
});

test('a log that does not end in time is a problem', async () => {
  await start({ objects: { pods: [daemonPod(0)] } });
  const { io, outcome } = fakeIo({ clock: new FakeClock() });
  const hung: Transport = {
    server: 'https://c',
    serverTime: () => undefined,
    send: async () => ({}),
    async *stream({ signal }) {
      yield Buffer.from('a\n');
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        void (io.clock as FakeClock).advance(60_000);
      });
    },
  };
  const real = await connect({ kubeconfig: join(cluster.folder, 'kubeconfig') });
  const argv = ['support-bundle', '--no-nodes', '-f', archive()];
  const code = await run(argv, { ...io, connect: async () => ({ ...real, transport: hung }) });
  expect({ code, err: outcome.err }).toEqual({
    code: 0,
    err: expect.stringMatching(/not read: logs\/\S+: no end of the answer in 60 s/),
  });
});

test('a long refusal of a pod is not read to its end', async () => {
  const text = `begin ${'x'.repeat(3 << 20)}`;
  await start({
    objects: { pods: [daemonPod(0)] },
    texts: { [`${POD}/log`]: 'a\n' },
    failures: { [`${POD}:9/proxy/m`]: text },
  });
  const { err } = await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  expect(err).toMatch(/not read: metrics\/\S+: .*the answer exceeds 1048576 bytes\n/);
});

test("a tenant's labelled pods do not displace those of the daemon", async () => {
  const tenants = Array.from({ length: 20 }, (_, index) => podNamed(`p${index}`, 'tenant'));
  const metadata = { name: 'stowage', namespace: 'stowage' };
  await start({
    objects: {
      pods: [...tenants, daemonPod(0)],
      leases: [{ apiVersion: 'v1', kind: 'Lease', metadata, spec: {} }],
    },
    texts: { [`${POD}/log`]: 'a\n' },
  });
  await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  expect((await unpacked(archive(), cluster.folder))[LOG]).toBe('a\n');
});

test('an object nested deeper than the stack loses no other kind', async () => {
  const volume = volumeNamed('data1');
  const annotations = { a: `${'['.repeat(20_000)}${']'.repeat(20_000)}` };
  const nested = { ...volume, metadata: { ...volume.metadata, annotations } };
  await start({ objects: { volumes: [nested], nodes: [nodeObject('n1')] } });
  await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  const files = await unpacked(archive(), cluster.folder);
  expect(JSON.parse(files['objects/volumes.json'] ?? '').items).toMatchObject([
    { metadata: { name: 'data1', annotations: { a: 'REMOVED' } } },
  ]);
  expect(JSON.parse(files['objects/nodes.json'] ?? '').items).toHaveLength(1);
});

test('an object that cannot be written is a problem, and loses no other kind', async () => {
  const volume = volumeNamed('data1');
  await start({ objects: { volumes: [volume], nodes: [nodeObject('n1')] } });
  const { io, outcome } = fakeIo();
  const real = await connect({ kubeconfig: join(cluster.folder, 'kubeconfig') });
  const broken = {
    ...real.client,
    list: async (...asked: Parameters<typeof real.client.list>) => {
      const list = await real.client.list(...asked);
      if (asked[0].plural === 'volumes')
        Object.defineProperty(list.items[0], 'extra', {
          enumerable: true,
          get() {
            throw new RangeError('too deep');
          },
        });
      return list;
    },
  } as typeof real.client;
  const argv = ['support-bundle', '--no-nodes', '-f', archive()];
  await run(argv, { ...io, connect: async () => ({ ...real, client: broken }) });
  const files = await unpacked(archive(), cluster.folder);
  expect(outcome.err).toContain('note: not read: objects/volumes.json: too deep\n');
  expect(JSON.parse(files['objects/nodes.json'] ?? '').items).toHaveLength(1);
  expect(Object.keys(files)).toContain('versions.json');
});

test('control characters of logs do not reach a terminal', async () => {
  await start({ objects: { pods: [daemonPod(0)] }, texts: { [`${POD}/log`]: 'a\u001b[2Jb\n' } });
  await cluster.stowage(['support-bundle', '--no-nodes', '-f', archive()]);
  expect((await unpacked(archive(), cluster.folder))[LOG]).toBe('a\ufffd[2Jb\n');
});

test('a node that does not answer ends after a minute, and others answer', async () => {
  await start();
  const clock = new FakeClock();
  const inner = fakeExecutor({ n1: { probes: OK, subjects: ['s'] } });
  const executor = boundedExecutor(
    {
      ...inner,
      observe: (node, probes) =>
        node === 'n2' ? new Promise(() => {}) : inner.observe(node, probes),
    },
    clock,
  );
  const late = executor.observe('n2', []).catch((error) => error);
  expect(await executor.subjects('n1')).toEqual(['s']);
  await clock.advance(NODE_TIMEOUT);
  expect(await late).toMatchObject({ code: 'unreachable', node: 'n2', message: /within 60 s/ });
  // The limit is for all requests to the node.
  await expect(executor.observe('n2', [])).rejects.toThrow(NodeError);
  await expect(executor.submit('n1', {} as never, 0)).rejects.toThrow('changes nothing');
  await executor.close();
  expect(inner.closed).toBe(true);
  expect(clock.sleeping).toEqual([]);
});
