import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CONTROLLERS } from '../../src/api/controllers.ts';
import { VERSION } from '../../src/api/version.ts';
import type { WatchOptions } from '../../src/manager/watch.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const runWatch = jest.fn(async (_options: WatchOptions) => {});
jest.unstable_mockModule('../../src/manager/watch.ts', () => ({ runWatch }));
const { stowage } = await import('../support/fake-io.ts');

beforeEach(() => {
  runWatch.mockClear();
});

test('watch has defaults', async () => {
  expect(await stowage(['watch'])).toMatchObject({ code: 0, connections: [{ version: VERSION }] });
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    settings: {
      transport: 'ssh',
      localNodes: [],
      sshConfig: undefined,
      workers: 10,
      retry: { startMs: 1000, maxMs: 300_000 },
      addresses: new Map(),
    },
    controllers: new Set(CONTROLLERS),
    snapshotController: 'auto',
    // Defaults of client-go.
    election: {
      namespace: 'default',
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2000,
    },
    attachment: {
      pollIntervalMs: undefined,
      maxWaitForUnmountMs: 360_000,
      kubeletRoot: '/var/lib/kubelet',
    },
    verbose: false,
  });
  for (const unset of ['config', 'rate', 'http']) {
    expect(runWatch.mock.lastCall?.[0]).not.toHaveProperty(unset);
  }
});

test('watch passes its flags to the daemon', async () => {
  const flags = [
    '--workers',
    '3',
    '--retry-interval-start',
    '200ms',
    '--retry-interval-max',
    '1m',
    '-v',
  ];
  await stowage(['watch', '--ssh-config', '/etc/stowage/ssh', ...flags]);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    settings: {
      transport: 'ssh',
      sshConfig: '/etc/stowage/ssh',
      workers: 3,
      retry: { startMs: 200, maxMs: 60_000 },
    },
    verbose: true,
  });
});

test('watch passes on flags of leader election, HTTP and request rate', async () => {
  const election = [
    '--leader-election-namespace=storage',
    '--leader-election-lease-duration=30s',
    '--leader-election-renew-deadline=20s',
    '--leader-election-retry-period=4s',
  ];
  const flags = [
    '--controllers',
    '*,-leftover',
    '--http-endpoint',
    ':8080',
    '--kube-api-qps',
    '20',
  ];
  await stowage(['watch', '--leader-election', ...election, ...flags]);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    controllers: new Set(CONTROLLERS.filter((name) => name !== 'leftover')),
    election: {
      namespace: 'storage',
      leaseDurationMs: 30_000,
      renewDeadlineMs: 20_000,
      retryPeriodMs: 4000,
    },
    http: { address: { host: undefined, port: 8080 }, metricsPath: '/metrics' },
    rate: { qps: 20, burst: 20 },
  });
  await stowage(['watch', '-n', 'own', '--kube-api-qps', '20', '--kube-api-burst', '50']);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    election: { namespace: 'own' },
    rate: { qps: 20, burst: 50 },
  });
  await stowage([
    'watch',
    '--leader-election=false',
    '--http-endpoint',
    '[::1]:1',
    '--metrics-path',
    '/m',
  ]);
  expect(runWatch.mock.lastCall?.[0]).not.toHaveProperty('election');
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    http: { address: { host: '::1' }, metricsPath: '/m' },
  });
});

test('watch passes on flags of attachment', async () => {
  const times = ['--attachment-poll-interval', '10m', '--max-wait-for-unmount', '90s'];
  await stowage(['watch', ...times, '--kubelet-root-dir', '/srv/kubelet']);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    attachment: {
      pollIntervalMs: 600_000,
      maxWaitForUnmountMs: 90_000,
      kubeletRoot: '/srv/kubelet',
    },
  });
  const env = { STOWAGE_MAX_WAIT_FOR_UNMOUNT: 'never', STOWAGE_KUBELET_ROOT_DIR: '/k' };
  await stowage(['watch', '--attachment-poll-interval=0'], { env });
  expect(runWatch.mock.lastCall?.[0]?.attachment).toEqual({
    pollIntervalMs: undefined,
    maxWaitForUnmountMs: Number.POSITIVE_INFINITY,
    kubeletRoot: '/k',
  });
});

test.each(['builtin', 'external'])('watch passes on the snapshot controller %s', async (who) => {
  await stowage(['watch', '--snapshot-controller', who]);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({ snapshotController: who });
});

test('watch collects the names of local nodes', async () => {
  await stowage(['watch', '--transport', 'local', '--local-node', 'n1,n2', '--local-node', 'n3']);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    settings: { transport: 'local', localNodes: ['n1', 'n2', 'n3'] },
  });
});

test.each<[string[], string]>([
  [['--transport', 'local'], '--transport local and --local-node require each other'],
  [['--local-node', 'n1'], '--transport local and --local-node require each other'],
  [['--transport', 'local', '--local-node', 'N1'], 'A name has'],
  [['--retry-interval-start', '6m'], '--retry-interval-start is longer'],
  [['--workers', '0'], 'whole number from 1'],
  [['--snapshot-controller', 'none'], 'Allowed choices are auto, builtin, external.'],
  [['--controllers', 'volumes'], 'unknown controller "volumes"'],
  [['--controllers=-volume'], 'no controller is enabled'],
  [['--leader-election=maybe'], 'It must be true or false.'],
  [['--leader-election-renew-deadline', '15s'], 'a leader must stop before another starts'],
  [['--leader-election-retry-period', '6s'], 'one failed attempt must not lose the Lease'],
  [['--leader-election-namespace', 'A'], 'A name has'],
  [['--http-endpoint', '8080'], 'not an address with a port'],
  [['--metrics-path', '/healthz'], 'the daemon serves its health there'],
  [['--kube-api-burst', '5'], '--kube-api-burst requires --kube-api-qps'],
  [['--kube-api-qps', '0'], 'whole number from 1'],
  [['--max-wait-for-unmount', '0'], 'Write a duration such as 30s'],
  [['--attachment-poll-interval', 'never'], 'Write a duration such as 30s'],
  [['--kubelet-root-dir', 'var/lib/kubelet'], 'It must be an absolute path.'],
  [['--kubelet-root-dir', '/var/lib/../kubelet'], 'It must be a directory below /'],
])('%j is wrong usage', async (flags, message) => {
  const { code, err } = await stowage(['watch', ...flags]);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(runWatch).not.toHaveBeenCalled();
});

describe('watch --config', () => {
  let folder: { path: string; remove(): Promise<void> };
  beforeAll(async () => {
    folder = await temporaryDirectory('config');
  });
  afterAll(() => folder.remove());

  async function withFile(text: string, flags: string[] = [], env: Record<string, string> = {}) {
    const file = join(folder.path, 'config.yaml');
    await writeFile(file, text);
    const outcome = await stowage(['watch', '--config', file, ...flags], { env });
    return { ...outcome, file, options: runWatch.mock.lastCall?.[0] };
  }

  test('sets what flags set, and the addresses of nodes', async () => {
    const { options, file } = await withFile(`
      sshConfig: /etc/stowage/ssh
      sshGuard: true
      workers: 3
      retryIntervalStart: 200ms
      retryIntervalMax: 1m30s
      nodes:
        n1: {address: 10.0.0.1, port: 2222}
        n2.example: {address: 'fd00::2'}
        n3: {port: 22, minion: n3.example}
    `);
    expect(options?.settings).toEqual({
      transport: 'ssh',
      localNodes: [],
      sshConfig: '/etc/stowage/ssh',
      sshGuard: true,
      salt: undefined,
      workers: 3,
      retry: { startMs: 200, maxMs: 90_000 },
      addresses: new Map<string, object>([
        ['n1', { host: '10.0.0.1', port: 2222 }],
        ['n2.example', { host: 'fd00::2' }],
        ['n3', { port: 22 }],
      ]),
      minions: new Map([['n3', 'n3.example']]),
    });
    expect(options?.config?.path).toBe(file);
    await writeFile(file, 'workers: 4');
    expect(await options?.config?.read()).toMatchObject({ workers: 4, sshConfig: undefined });
  });

  test('ranks below the environment and flags; an empty file sets nothing', async () => {
    const env = {
      STOWAGE_WORKERS: '5',
      STOWAGE_SSH_CONFIG: '/env',
      STOWAGE_LEADER_ELECTION: 'false',
    };
    const text = 'workers: 4\nsshConfig: /file\nretryIntervalMax: 1m\n';
    const { options } = await withFile(text, ['--workers', '6'], env);
    expect(options?.settings).toMatchObject({
      workers: 6,
      sshConfig: '/env',
      retry: { startMs: 1000, maxMs: 60_000 },
    });
    expect(options).not.toHaveProperty('election');
    const globals = {
      STOWAGE_NAMESPACE: 'ops',
      STOWAGE_KUBECONFIG: '/k',
      STOWAGE_NO_COLOR: 'false',
    };
    const { connections } = await withFile('', ['-n', 'mine'], globals);
    expect(connections[0]).toMatchObject({ kubeconfig: '/k', namespace: 'mine' });
    // After a reload, too.
    expect(await options?.config?.read()).toMatchObject({ workers: 6, sshConfig: '/env' });
    expect((await withFile('# nothing\n')).options?.settings).toMatchObject({ workers: 10 });
    const local = await withFile('transport: local\nlocalNode: [n1]\n');
    expect(local.options?.settings).toMatchObject({ transport: 'local', localNodes: ['n1'] });
  });

  test('sets the URL of salt-api, beside flags and environment', async () => {
    const text =
      'transport: salt\nsaltUrl: https://salt:8000\nsaltSecretFile: /secret\nsaltUser: other\n';
    const { options } = await withFile(text, ['--salt-user', 'stowage'], {
      STOWAGE_SALT_EAUTH: 'pam',
    });
    expect(options?.settings).toMatchObject({
      transport: 'salt',
      salt: { url: 'https://salt:8000', secretFile: '/secret', user: 'stowage', eauth: 'pam' },
    });
  });

  test.each<[string, string]>([
    ['transport: salt', '--transport salt requires --salt-url and --salt-secret-file'],
    [
      'transport: salt\nsaltUrl: http://salt\nsaltSecretFile: /s',
      '--salt-url http://salt is not an https:// URL',
    ],
    ['nodes: {n1: {minion: "*"}}', 'nodes.n1.minion: it must be the id of a Salt minion'],
    ['workers: 0', 'workers: It must be a whole number from 1 to 1000'],
    ['workers: many', 'workers: It must be a whole number from 1 to 1000'],
    ['retryIntervalMax: 5', 'retryIntervalMax: it must be a string'],
    ['retryIntervalMax: 5 minutes', 'retryIntervalMax: Write a duration such as 30s'],
    ['transport: telnet', 'transport: it must be one of ssh, salt, local'],
    ['localNode: n1', 'localNode: it must be a list'],
    ['localNode: [n1, N2]', 'localNode[1]: it must be the name of a node'],
    ['nodes: [n1]', 'nodes: it must be a mapping'],
    ['nodes: {n1: {port: 70000}}', 'nodes.n1.port: It must be a whole number from 1 to 65535'],
    [
      'nodes: {n1: {address: -oProxyCommand=x}}',
      'nodes.n1.address: it must be a host name or an IP address',
    ],
    ['nodes: {n1: {user: root}}', 'nodes.n1.user: unknown field; the fields are: address, port'],
    ['nodes: {../n1: {}}', 'nodes.../n1: it must be the name of a node'],
    ['worker: 3', 'worker: unknown field; the fields are: transport, localNode'],
    ['- workers', 'it must be a mapping'],
    ['workers: 3\nworkers: 4', 'it is not valid YAML: Map keys must be unique'],
    ['a: [', 'it is not valid YAML: '],
    ['transport: local', '--transport local and --local-node require each other'],
    ['retryIntervalStart: 6m', '--retry-interval-start is longer'],
  ])('%j is refused', async (text, message) => {
    const { code, err, file } = await withFile(text);
    expect(code).toBe(2);
    expect(err).toContain(message);
    if (!message.startsWith('--')) expect(err).toContain(`--config ${file}: `);
    expect(runWatch).not.toHaveBeenCalled();
  });

  test('fails if the file does not exist', async () => {
    const { code, err } = await stowage(['watch', '--config', join(folder.path, 'none')]);
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be read: ENOENT')]);
  });
});

test('an invalid value of the environment is wrong usage, and names its variable', async () => {
  const { code, err } = await stowage(['watch'], { env: { STOWAGE_WORKERS: 'x' } });
  expect(code).toBe(2);
  expect(err).toContain("$STOWAGE_WORKERS 'x' is invalid for --workers. It must be a whole number");
});
