import { expect, test } from '@jest/globals';
import type { Resource } from '../../src/api/meta.ts';
import { createPopulation, type PopulationDeps } from '../../src/manager/population.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { memoryLogger } from '../support/logger.ts';

test.each<[string | undefined, string[]]>([
  ['stowage', ['kube-system', 'stowage']],
  ['kube-system', ['kube-system']],
  [undefined, ['kube-system']],
])('a daemon in namespace %s detects the standard validator in %j only', (namespace, expected) => {
  const asked: string[] = [];
  const informer = { list: () => [], onChange() {}, synced: Promise.resolve() };
  createPopulation({
    ...{ namespace, claims: informer, clock: new FakeClock(), logger: memoryLogger() },
    enabled: new Set(['data-source-validator']),
    inform: ({ plural }: Resource, _: unknown, more?: { namespace?: string }) => {
      if (plural === 'pods' || plural === 'leases') asked.push(`${plural} ${more?.namespace}`);
      return informer;
    },
    random: () => 0,
  } as unknown as PopulationDeps);
  expect(asked).toEqual([
    ...expected.map((each) => `leases ${each}`),
    ...expected.map((each) => `pods ${each}`),
  ]);
});
