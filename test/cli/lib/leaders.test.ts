import { expect, test } from '@jest/globals';
import { LEASES } from '../../../src/api/resources.ts';
import { readLeases } from '../../../src/cli/lib/leaders.ts';
import { createListedClient } from '../../../src/cli/why/all/listed-client.ts';
import { NOW } from '../../support/cluster-objects.ts';
import { leadingLease } from '../../support/leading-lease.ts';
import { sharedClaimsCluster } from '../../support/shared-claims-cluster.ts';

const cluster = sharedClaimsCluster({}, LEASES);
const { signal } = new AbortController();

test.each([
  ['by the server', () => cluster.client],
  ['through the lists of why --all', () => listed(undefined)],
  ['through the lists of why --all in a namespace', () => listed('db')],
])('readLeases leaves out the Leases of kubelets: %s', async (_, client) => {
  for (const namespace of ['default', 'kube-node-lease']) {
    const lease = leadingLease(NOW);
    await cluster.client.create(LEASES, { ...lease, metadata: { ...lease.metadata, namespace } });
  }
  const read = await readLeases(client(), signal);
  expect(read).toMatchObject({ found: [{ metadata: { namespace: 'default' } }] });
  expect('found' in read && read.found).toHaveLength(1);
});

function listed(within: string | undefined) {
  return createListedClient(cluster.client, within, signal);
}
