import { beforeEach, expect, jest, test } from '@jest/globals';
import { VERSION } from '../../src/cli/version.ts';
import type { WatchOptions } from '../../src/daemon/watch.ts';

const runWatch = jest.fn(async ({ connect }: WatchOptions) => {
  await connect(() => {});
});
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
    workers: 10,
    retry: { startMs: 1000, maxMs: 300_000 },
    verbose: false,
  });
  expect(runWatch.mock.lastCall?.[0]).not.toHaveProperty('sshConfig');
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
])('%j is wrong usage', async (flags, message) => {
  const { code, err } = await stowage(['watch', ...flags]);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(runWatch).not.toHaveBeenCalled();
});
