import { beforeEach, expect, jest, test } from '@jest/globals';
import { VERSION } from '../../src/cli/version.ts';
import type { WatchOptions } from '../../src/daemon/watch.ts';

const runWatch = jest.fn(async (_options: WatchOptions) => {});
jest.unstable_mockModule('../../src/daemon/watch.ts', () => ({ runWatch }));
const { stowage } = await import('../support/fake-io.ts');

beforeEach(() => {
  runWatch.mockClear();
});

test('has defaults', async () => {
  expect(await stowage(['watch'])).toMatchObject({ code: 0, connections: [{ version: VERSION }] });
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    transport: 'ssh',
    localNodes: [],
    controllers: new Set(['volume', 'leftover']),
    workers: 10,
    retry: { startMs: 1000, maxMs: 300_000 },
    // As client-go's.
    election: { namespace: 'default', leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 },
    verbose: false,
  });
  for (const unset of ['sshConfig', 'rate', 'http']) {
    expect(runWatch.mock.lastCall?.[0]).not.toHaveProperty(unset);
  }
});

test('hands on what was given', async () => {
  const flags = ['--workers', '3', '--retry-interval-start', '200ms', '--retry-interval-max', '1m', '-v'];
  await stowage(['watch', '--ssh-config', '/etc/stowage/ssh', ...flags]);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    transport: 'ssh',
    sshConfig: '/etc/stowage/ssh',
    workers: 3,
    retry: { startMs: 200, maxMs: 60_000 },
    verbose: true,
  });
});

test('hands on how to lead, what to serve, and how fast to be', async () => {
  const election = [
    '--leader-election-namespace=storage',
    '--leader-election-lease-duration=30s',
    '--leader-election-renew-deadline=20s',
    '--leader-election-retry-period=4s',
  ];
  const flags = ['--controllers', '*,-leftover', '--http-endpoint', ':8080', '--kube-api-qps', '20'];
  await stowage(['watch', '--leader-election', ...election, ...flags]);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    controllers: new Set(['volume']),
    election: { namespace: 'storage', leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 4000 },
    http: { address: { host: undefined, port: 8080 }, metricsPath: '/metrics' },
    rate: { qps: 20, burst: 20 },
  });
  await stowage(['watch', '-n', 'own', '--kube-api-qps', '20', '--kube-api-burst', '50']);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    election: { namespace: 'own' },
    rate: { qps: 20, burst: 50 },
  });
  await stowage(['watch', '--leader-election=false', '--http-endpoint', '[::1]:1', '--metrics-path', '/m']);
  expect(runWatch.mock.lastCall?.[0]).not.toHaveProperty('election');
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({
    http: { address: { host: '::1' }, metricsPath: '/m' },
  });
});

test('collects the names of local nodes', async () => {
  await stowage(['watch', '--transport', 'local', '--local-node', 'n1,n2', '--local-node', 'n3']);
  expect(runWatch.mock.lastCall?.[0]).toMatchObject({ transport: 'local', localNodes: ['n1', 'n2', 'n3'] });
});

test.each<[string[], string]>([
  [['--transport', 'local'], '--transport local and --local-node go together'],
  [['--local-node', 'n1'], '--transport local and --local-node go together'],
  [['--transport', 'local', '--local-node', 'N1'], 'A name has'],
  [['--retry-interval-start', '6m'], '--retry-interval-start is longer'],
  [['--workers', '0'], 'whole number from 1'],
  [['--controllers', 'volumes'], 'there is no controller "volumes"'],
  [['--controllers=-volume'], 'no controller is left'],
  [['--leader-election=maybe'], 'It must be true or false.'],
  [['--leader-election-renew-deadline', '15s'], 'a leader has to stop before another begins'],
  [['--leader-election-retry-period', '6s'], 'one try that fails must not cost the Lease'],
  [['--leader-election-namespace', 'A'], 'A name has'],
  [['--http-endpoint', '8080'], 'this is no address with a port'],
  [['--metrics-path', '/healthz'], 'there the daemon tells of its health'],
  [['--kube-api-burst', '5'], '--kube-api-burst goes with --kube-api-qps'],
  [['--kube-api-qps', '0'], 'whole number from 1'],
])('%j is wrong usage', async (flags, message) => {
  const { code, err } = await stowage(['watch', ...flags]);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(runWatch).not.toHaveBeenCalled();
});
