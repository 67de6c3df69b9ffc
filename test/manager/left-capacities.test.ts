import { expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { LEASES } from '../../src/api/resources.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { removeLeftCapacities } from '../../src/manager/left-capacities.ts';
import { FakeClock, until } from '../support/fake-clock.ts';
import { leadingLease } from '../support/leading-lease.ts';

test('deletes capacities in other namespaces once no daemon leads there', async () => {
  const clock = new FakeClock();
  let capacities = ['own', 'left', 'leading'].map((namespace) => ({
    metadata: { name: 'x', namespace, uid: namespace },
  }));
  const lease = leadingLease(clock.now());
  const leases = [{ ...lease, metadata: { ...lease.metadata, namespace: 'leading' } }];
  let allowed = false;
  const asked: string[] = [];
  const client = {
    create: async () => ({ status: { allowed } }),
    list: async (resource: Resource) => {
      asked.push(resource.plural);
      return {
        items: (resource === LEASES ? leases : capacities) as KubeObject[],
        metadata: {},
      };
    },
    delete: async (_: Resource, __: string, options: { namespace: string; uid: string }) => {
      expect(options.uid).toBe(options.namespace);
      capacities = capacities.filter(({ metadata }) => metadata.namespace !== options.namespace);
    },
  } as unknown as KubeClient;
  const namespaces = () => capacities.map(({ metadata }) => metadata.namespace);
  // An account that may not delete them sends no further requests, which would be refused.
  await removeLeftCapacities(client, 'own', clock, new AbortController().signal);
  expect(asked).toEqual([]);
  allowed = true;
  const removing = removeLeftCapacities(client, 'own', clock, new AbortController().signal);
  await until(() => clock.sleeping.length > 0);
  expect(namespaces()).toEqual(['own', 'leading']);
  await clock.advance(60_000);
  await removing;
  expect(namespaces()).toEqual(['own']);
});
