import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PERSISTENT_VOLUMES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { createMetrics, type Metrics } from '../../../src/manager/metrics/metrics.ts';
import { observeJobEnds } from '../../../src/nodes/job-observer.ts';
import { systemClock } from '../../../src/workqueue/clock.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { readSamples, type Sample, seriesValue } from '../../support/exposition.ts';
import { ALLOCATED, FREE } from '../../support/fake-node.ts';
import { until } from '../../support/until.ts';
import { type WorkingNodes, workingNodes } from '../../support/working-nodes.ts';

const DIRECTORY = '/var/lib/metalk8s/storage/sparse';
const MI = 1 << 20;

let cluster: TestCluster;
let client: KubeClient;
let metrics: Metrics;
let controller: TestController;
let nodes: WorkingNodes;
/** Time in ms since the epoch. */
let began: number;

beforeEach(async () => {
  began = Date.now();
  cluster = await startCluster({ nodes: ['n1', 'n2'] });
  metrics = createMetrics({
    clock: systemClock,
    transportOf: (node) => (node === 'n2' ? 'salt' : 'ssh'),
  });
  ({ client } = await connect({ kubeconfig: cluster.kubeconfig, onCall: metrics.onCall }));
  nodes = workingNodes();
  nodes.away.add('n3');
  const executor = observeJobEnds(nodes, systemClock, metrics.onJobEnd);
  controller = await startController(client, { executor, metrics });
});

afterEach(async () => {
  await controller.stop();
  await cluster.stop();
});

const scrape = async (): Promise<Sample[]> => readSamples((await metrics.read()).body);
const hasPhase = (name: string, phase: string) =>
  until(`${name} is ${phase}`, async () =>
    (await client.get<Volume>(VOLUMES, name)).status?.phase === phase ? true : undefined,
  );

test('the series report the state and the completed work of a controller', async () => {
  for (const [name, node] of [
    ['a', 'n1'],
    ['b', 'n1'],
    ['c', 'n2'],
  ] as const) {
    await client.create(VOLUMES, sparseVolume(name, node, '32Mi'));
    await hasPhase(name, 'Available');
  }
  const missing = sparseVolume('d', 'n2', '32Mi');
  await client.create(VOLUMES, { ...missing, spec: { ...missing.spec, storageClassName: 'none' } });
  await hasPhase('d', 'Failed');
  await client.create(VOLUMES, sparseVolume('e', 'n3', '32Mi'));
  await until('e was looked for', async () =>
    (await client.get<Volume>(VOLUMES, 'e')).status?.conditions?.[0]?.reason === 'NodeUnreachable'
      ? true
      : undefined,
  );

  // Without a binder, the sandbox sets no phase of PersistentVolumes.
  await client.delete(VOLUMES, 'b');
  await client.patch(
    PERSISTENT_VOLUMES,
    'b',
    { status: { phase: 'Available' } },
    { subresource: 'status' },
  );
  await until('b is gone', async () =>
    (await client.list(VOLUMES)).items.some(({ metadata }) => metadata.name === 'b')
      ? undefined
      : true,
  );

  const samples = await until('all is at rest', async () => {
    const now = await scrape();
    return seriesValue(now, 'stowage_queue_depth', { controller: 'volume' }) === 0
      ? now
      : undefined;
  });
  const value = (name: string, labels: Record<string, string> = {}) =>
    seriesValue(samples, name, labels);
  const volume = { controller: 'volume' };

  // Gauges of the current state.
  expect(
    Object.fromEntries(
      samples
        .filter(({ name }) => name === 'stowage_volumes')
        .map(({ labels, value }) => [labels.phase, value]),
    ),
  ).toEqual({ Pending: 1, Available: 2, Failed: 1, Terminating: 0, Unknown: 0 });
  for (const node of ['n1', 'n2']) {
    const place = { node, directory: DIRECTORY };
    expect(value('stowage_volumes_size_bytes', place)).toBe(32 * MI);
    expect(value('stowage_directory_allocated_bytes', place)).toBe(Number(ALLOCATED));
    expect(value('stowage_directory_free_bytes', place)).toBe(Number(FREE));
  }
  expect(
    value('stowage_directory_free_bytes', { node: 'n3', directory: DIRECTORY }),
  ).toBeUndefined();
  for (const resource of ['nodes', 'volumes', 'persistentvolumes', 'storageclasses', 'leftovers']) {
    const age = value('stowage_informer_age_seconds', { resource });
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThanOrEqual((Date.now() - began) / 1000);
  }
  expect(value('stowage_queue_oldest_age_seconds', volume)).toBe(0);

  // Counters of completed work.
  const jobs = (kind: string, transport: string) =>
    value('stowage_jobs_total', { kind, transport, result: 'succeeded' });
  expect(jobs('PrepareVolume', 'ssh')).toBe(2);
  expect(jobs('PrepareVolume', 'salt')).toBe(1);
  expect(jobs('UnprepareVolume', 'ssh')).toBe(1);
  expect(
    value('stowage_job_duration_seconds_count', { kind: 'PrepareVolume', transport: 'ssh' }),
  ).toBe(2);
  // The volume was detached first.
  expect(jobs('DetachVolume', 'ssh')).toBe(1);
  expect(nodes.started).toBe(5);
  expect(value('stowage_queue_adds_total', volume)).toBeGreaterThanOrEqual(5);
  // Retries of the unreachable node.
  expect(value('stowage_queue_retries_total', volume)).toBe(
    value('stowage_reconciles_total', { ...volume, result: 'retry' }),
  );
  expect(value('stowage_reconciles_total', { ...volume, result: 'retry' })).toBeGreaterThanOrEqual(
    1,
  );
  expect(value('stowage_reconciles_total', { ...volume, result: 'error' })).toBe(0);
  const ended = ['success', 'requeue-after', 'retry', 'error'].map(
    (result) => value('stowage_reconciles_total', { ...volume, result }) ?? Number.NaN,
  );
  expect(value('stowage_reconcile_duration_seconds_count', volume)).toBe(
    ended.reduce((sum, n) => sum + n),
  );
  expect(value('stowage_reconciles_total', { controller: 'leftover', result: 'success' })).toBe(0);
  const calls = (verb: string, resource: string, code: string) =>
    value('stowage_api_calls_total', { verb, resource, code });
  expect(calls('create', 'volumes', '201')).toBe(5);
  expect(calls('create', 'persistentvolumes', '201')).toBe(3);
  expect(calls('patch', 'volumes/status', '200')).toBeGreaterThanOrEqual(5);
  expect(calls('get', 'storageclasses', '404')).toBe(1);
  expect(calls('watch', 'volumes', '200')).toBe(1);
  expect(calls('list', 'nodes', '200')).toBe(1);
  const counted = value('stowage_api_call_duration_seconds_count', {
    verb: 'create',
    resource: 'volumes',
  });
  expect(counted).toBe(5);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(MI);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0);
});
