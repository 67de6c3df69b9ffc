import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/manager/metrics/metrics.ts';
import { documentedSeries } from '../../support/documented-series.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** Fields of a series that prom-client has, but its types omit. */
interface Kept {
  name: string;
  type: string;
  labelNames: string[];
}

test('docs/metrics.md has each stowage_ series with its kind and labels, and no other', async () => {
  const { registry } = createMetrics({ clock: new FakeClock(), transportOf: () => 'ssh' });
  const kept = (await registry.getMetricsAsJSON()).map(({ name, type }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as Kept;
    return `${name} ${type} ${labelNames.join()}`;
  });
  const told = (await documentedSeries()).map(
    ({ name, kind, labels }) => `${name} ${kind} ${labels}`,
  );
  expect(told.sort()).toEqual(kept.filter((line) => line.startsWith('stowage_')).sort());
  expect(told.length).toBeGreaterThan(10);
});
