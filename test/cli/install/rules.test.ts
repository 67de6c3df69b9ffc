import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import { NAMESPACES } from '../../../src/api/resources.ts';
import {
  CAPACITY_RULES,
  CLUSTER_RULES,
  LEASE_RULES,
  NAMESPACE_RULES,
  POPULATION_RULES,
  type Rule,
} from '../../../src/cli/install/rules.ts';
import { createClient } from '../../../src/kube/client.ts';
import { connect } from '../../../src/kube/connect.ts';
import { startCluster, type TestCluster } from '../../support/cluster.ts';
import { HELLO_CRD } from '../../support/hello.ts';
import { recordingTransport } from '../../support/recording-transport.ts';
import { startWholeLife } from '../../support/whole-life.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await startCluster({ crds: [...ALL_CRDS, HELLO_CRD] as never });
});
afterEach(() => cluster.stop());

/** Returns the rights of rules, as `recordingTransport` records them. */
const asked = (rules: readonly Rule[], place = '') =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => `${verb} ${resource}.${apiGroups[0]}${place}`),
    ),
  );

test('the daemon’s RBAC rules are exactly the rights that it uses', async () => {
  const { client, kubeconfig } = cluster;
  const namespace = 'stowage';
  await client.create(NAMESPACES, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  const connection = await connect({ kubeconfig });
  const { transport, used } = recordingTransport(connection.transport);
  const life = startWholeLife({
    client,
    connection: { ...connection, transport, client: createClient(transport) },
    namespace,
  });
  await life.done.finally(() => life.stop());

  const allowed = [
    ...asked(CLUSTER_RULES),
    ...asked(NAMESPACE_RULES, ' in default'),
    ...asked([...LEASE_RULES, ...CAPACITY_RULES, ...POPULATION_RULES], ` in ${namespace}`),
    // Granted by the ClusterRole that an administrator creates for a registered kind.
    ...['list', 'watch'].map((verb) => `${verb} hellos.hello.example.com`),
    'get hellos.hello.example.com in default',
  ];
  // The right to list Leases and grants in all namespaces includes a single one.
  const everywhere = asked(CLUSTER_RULES);
  const uses = new Set(
    [...used].map((use) => {
      const [right = ''] = use.split(' in ');
      return everywhere.includes(right) ? right : use;
    }),
  );
  // Requests for capacities that daemons left in other namespaces. Only an account that may delete
  // them lists them, and any account may ask for its rights.
  uses.delete('create selfsubjectaccessreviews.authorization.k8s.io');
  uses.delete('list csistoragecapacities.storage.k8s.io');
  // Rights to claims also cover those in the daemon's own namespace.
  const inAny = asked(NAMESPACE_RULES, ` in ${namespace}`);
  expect([...uses].filter((use) => !allowed.includes(use) && !inAny.includes(use))).toEqual([]);
  expect(allowed.filter((right) => !uses.has(right))).toEqual([]);
});
