import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/daemon/metrics/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** What prom-client keeps of a series and its types leave out. */
interface Kept {
  name: string;
  type: string;
  labelNames: string[];
}

const ROW = /^\| `(\w+)` \| (\w+) \| (.+?) \| .+ \|$/;

test('the README has each series of ours, its kind and its labels, and no other', async () => {
  const { registry } = createMetrics({ clock: new FakeClock(), transportOf: () => 'ssh' });
  const kept = (await registry.getMetricsAsJSON()).map(({ name, type }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as Kept;
    return `${name} ${type} ${labelNames.join()}`;
  });
  const lines = (await readFile('README.md', 'utf8')).split('\n');
  const told = lines.flatMap((line) => {
    const [, name, kind, labels = ''] = ROW.exec(line) ?? [];
    if (!name?.startsWith('stowage_')) return [];
    return [`${name} ${kind} ${labels.replaceAll(/[` ]/g, '')}`];
  });
  expect(told.sort()).toEqual(kept.filter((line) => line.startsWith('stowage_')).sort());
  expect(told.length).toBeGreaterThan(10);
});
