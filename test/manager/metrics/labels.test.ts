import { expect, test } from '@jest/globals';
import { createMetrics } from '../../../src/manager/metrics/metrics.ts';
import { readSamples, seriesValue } from '../../support/exposition.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { HOSTILE, showHostileVolumes } from '../../support/hostile-metrics.ts';

test('writes each series once, on one line, with hostile names unchanged', async () => {
  const metrics = createMetrics({ clock: new FakeClock(), transportOf: (node) => node });
  showHostileVolumes(metrics);
  const { body } = await metrics.read();
  expect(body.isWellFormed()).toBe(true);
  // Encoded as for Prometheus: names that differ only in lone surrogates must stay different.
  const samples = readSamples(Buffer.from(body).toString());
  const names = new Set(HOSTILE.map((name) => name.toWellFormed()));
  for (const node of names) {
    const place = { node, directory: `/${node}` };
    expect([
      seriesValue(samples, 'stowage_directory_free_bytes', place),
      seriesValue(samples, 'stowage_directory_allocated_bytes', place),
      seriesValue(samples, 'stowage_jobs_total', {
        kind: 'other',
        transport: node,
        result: 'failed',
      }),
    ]).toEqual([2 ** 40, 0, node === '\ufffd' ? 2 : 1]);
  }
  expect(samples.filter(({ name }) => name === 'stowage_directory_free_bytes')).toHaveLength(
    names.size,
  );
  expect(seriesValue(samples, 'stowage_volumes', { phase: 'Unknown' })).toBe(HOSTILE.length);
});
