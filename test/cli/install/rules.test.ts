import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { KubeNode } from '../../../src/api/core.ts';
import { LEFTOVERS, NODES, VOLUMES } from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { NAMESPACES } from '../../../src/cli/install/kinds.ts';
import { CLUSTER_RULES, EVENT_RULES, LEASE_RULES, type Rule } from '../../../src/cli/install/rules.ts';
import { systemClock } from '../../../src/control/clock.ts';
import { startElection } from '../../../src/kube/election.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import { createEventRecorder } from '../../../src/kube/events.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { memoryLogger } from '../../support/logger.ts';
import { recordingClient } from '../../support/recording-client.ts';
import { until } from '../../support/until.ts';
import { willingNodes } from '../../support/willing-node.ts';

const SIZE = 64 << 20;

let cluster: TestCluster;
let controller: TestController;
const nodes = willingNodes(SIZE);
let recorded: ReturnType<typeof recordingClient>;

beforeEach(async () => {
  cluster = await startCluster();
  recorded = recordingClient(cluster.client);
  controller = await startController(recorded.client, { executor: nodes });
}, 30_000);
afterEach(async () => {
  await controller.stop();
  await cluster.stop();
});

/** As `recordingClient` notes them. */
const asked = (rules: readonly Rule[], place = '') =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${apiGroups[0]}${place}`)),
  );

test('the rights of the daemon are those that it uses', async () => {
  const { client } = cluster;
  const has = (name: string, phase: string) =>
    until(`${name} is ${phase}`, 10_000, async () => {
      const { status } = await client.get<Volume>(VOLUMES, name);
      return status?.phase === phase ? true : undefined;
    });
  const gone = (resource: typeof VOLUMES, name: string) =>
    until(`${resource.kind} ${name} is gone`, 10_000, () =>
      client.get(resource, name).then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
      ),
    );
  const node = (name: string): KubeNode => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

  // A whole life.
  await client.create(NODES, node('n1'));
  await client.create(VOLUMES, sparseVolume('a', 'n1', '64Mi'));
  await has('a', 'Available');
  // What is told again is the same Event. (When the daemon tells something again is a matter of time.)
  const events = createEventRecorder({
    client: recorded.client,
    clock: systemClock,
    component: 'stowage',
    host: 'test',
    logger: memoryLogger(),
  });
  const volume = await client.get<Volume>(VOLUMES, 'a');
  events.event(volume, 'Warning', 'Test', 'told');
  events.event(volume, 'Warning', 'Test', 'told');
  await events.flush(5000);

  await client.delete(VOLUMES, 'a');
  await gone(VOLUMES, 'a');

  // A class that is not there, which is looked for live.
  const unclassed = sparseVolume('unclassed', 'n3', '64Mi');
  await client.create(VOLUMES, { ...unclassed, spec: { ...unclassed.spec, storageClassName: 'none' } });
  await has('unclassed', 'Failed');

  // A lost node, which is let go of, and comes back.
  await client.create(VOLUMES, sparseVolume('b', 'n2', '64Mi'));
  await has('b', 'Available');
  nodes.away.add('n2');
  const { uid = '' } = (await client.get<Volume>(VOLUMES, 'b')).metadata;
  await client.patch(VOLUMES, 'b', { metadata: { annotations: { 'stowage.dev/forget-node': uid } } });
  await client.delete(VOLUMES, 'b');
  await gone(VOLUMES, 'b');
  nodes.away.delete('n2');
  await client.create(NODES, node('n2'));
  await gone(LEFTOVERS, uid);
  // The Lease is made, renewed and released.
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'stowage' } });
  const election = startElection({
    client: recorded.client,
    namespace: 'stowage',
    name: 'stowage',
    identity: 'test',
    timing: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 },
    clock: systemClock,
    monotonic: () => performance.now(),
    random: () => 0,
    logger: memoryLogger(),
  });
  await election.won;
  const watching = 'watch leases.coordination.k8s.io in stowage';
  await until('the Lease is watched', 10_000, async () => recorded.used.has(watching) || undefined);
  await election.stop();

  const allowed = [
    ...asked(CLUSTER_RULES),
    ...asked(EVENT_RULES, ' in default'),
    ...asked(LEASE_RULES, ' in stowage'),
  ];
  const used = [...recorded.used];
  expect(used.filter((use) => !allowed.includes(use))).toEqual([]);
  expect(allowed.filter((right) => !used.includes(right))).toEqual([]);
}, 60_000);
