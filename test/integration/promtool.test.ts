import { expect, test } from '@jest/globals';
import { Gauge } from 'prom-client';
import { NODES } from '../../src/api/resources.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { createMetrics, type Metrics } from '../../src/manager/metrics/metrics.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { createWorkQueue } from '../../src/workqueue/work-queue.ts';
import { type DocumentedSeries, documentedSeries } from '../support/documented-series.ts';
import { showHostileClaims, showHostileVolumes } from '../support/hostile-metrics.ts';
import { checkMetrics } from '../support/promtool.ts';

const check = async (metrics: Metrics) => checkMetrics((await metrics.read()).body);

/** Returns metrics with a value for every series. */
function busyMetrics(): Metrics {
  const metrics = createMetrics({ clock: systemClock, transportOf: (node) => node });
  const queue = createWorkQueue({
    clock: systemClock,
    random: () => 0,
    groupOf: () => '',
    perGroup: 1,
  });
  queue.add('a');
  metrics.addController('volume', queue)('success', 12);
  metrics.addInformer(NODES, { lastHeard: () => Date.now() } as Informer<never>);
  metrics.onCall({ verb: 'patch', resource: 'volumes/status', code: undefined, ms: 3 });
  showHostileVolumes(metrics);
  showHostileClaims(metrics);
  metrics.populations.onVerdict('invalid');
  const filled = { bytes: 1n << 30n, storageClass: 'fast' };
  metrics.populations.onEnd({ result: 'success', ms: 1200, filled });
  return metrics;
}

test('promtool accepts the metrics, also with hostile object names', async () => {
  const metrics = busyMetrics();
  const values = await metrics.registry.getMetricsAsJSON();
  expect(
    values.filter((metric) => metric.name.startsWith('stowage_') && metric.values.length === 0),
  ).toEqual([]);
  expect(await check(metrics)).toEqual({ status: 0, said: '' });
});

test('promtool reports a metric name that violates the conventions', async () => {
  const metrics = busyMetrics();
  new Gauge({ registers: [metrics.registry], name: 'stowage_wrong_total', help: 'A gauge.' });
  expect(await check(metrics)).toMatchObject({
    status: 3,
    said: expect.stringContaining('stowage_wrong_total'),
  });
});

test('docs/metrics.md lists each series, and no other', async () => {
  const values = await busyMetrics().registry.getMetricsAsJSON();
  const ours = values
    .filter(({ name }) => name.startsWith('stowage_'))
    .map(({ name, type, values: [first] }) => ({
      name,
      kind: String(type),
      // Without the label of histogram buckets.
      labels: Object.keys(first?.labels ?? {}).filter((label) => label !== 'le'),
    }));
  const sorted = (series: DocumentedSeries[]) =>
    series
      .map((each) => ({ ...each, labels: each.labels.toSorted() }))
      .toSorted((a, b) => a.name.localeCompare(b.name));
  expect(sorted(await documentedSeries())).toEqual(sorted(ours));
});
