import { describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Provisioned } from '../../../src/controllers/provisioner/types.ts';
import { claimMetrics } from '../../../src/manager/metrics/claims.ts';

const bound: Provisioned = {
  storageClass: 'fast',
  source: 'snapshot',
  crossNamespace: false,
  ms: 1500,
};
const { ms: _, ...failed } = bound;

/** Returns the lines of the claims' counters after these results of claims. */
async function countersAfter(...ends: Provisioned[]): Promise<string[]> {
  const registry = new Registry();
  const metrics = claimMetrics(registry);
  for (const end of ends) metrics.onProvisioned(end);
  const lines = (await registry.metrics()).split('\n');
  return lines
    .filter((line) => /^(stowage_claims_total|stowage_claim_seconds_count|cross_)/.test(line))
    .sort();
}

describe.each(['none', 'snapshot', 'claim', 'link'] as const)(
  'a claim whose source is: %s',
  (source) => {
    test.each([
      ['in its own namespace', false],
      ['in another namespace', true],
    ])('is counted by its result: %s', async (_where, crossNamespace) => {
      const across = (series: string) =>
        crossNamespace
          ? [`cross_namespace_persistentvolumeclaim_${series}_total{storage_class="fast"} 1`]
          : [];
      expect(await countersAfter({ ...bound, source, crossNamespace })).toEqual([
        ...across('provision'),
        `stowage_claim_seconds_count{class="fast",source="${source}"} 1`,
        `stowage_claims_total{class="fast",source="${source}",result="succeeded"} 1`,
      ]);
      expect(await countersAfter({ ...failed, source, crossNamespace })).toEqual([
        ...across('provision_failed'),
        `stowage_claims_total{class="fast",source="${source}",result="failed"} 1`,
      ]);
    });
  },
);

test('each attempt is counted, by storage class', async () => {
  const across = { ...failed, crossNamespace: true };
  const slow = { ...across, storageClass: 'slow' };
  expect(
    await countersAfter(across, across, { ...bound, crossNamespace: true }, slow, bound, failed),
  ).toEqual([
    'cross_namespace_persistentvolumeclaim_provision_failed_total{storage_class="fast"} 2',
    'cross_namespace_persistentvolumeclaim_provision_failed_total{storage_class="slow"} 1',
    'cross_namespace_persistentvolumeclaim_provision_total{storage_class="fast"} 1',
    'stowage_claim_seconds_count{class="fast",source="snapshot"} 2',
    'stowage_claims_total{class="fast",source="snapshot",result="failed"} 3',
    'stowage_claims_total{class="fast",source="snapshot",result="succeeded"} 2',
    'stowage_claims_total{class="slow",source="snapshot",result="failed"} 1',
  ]);
});
