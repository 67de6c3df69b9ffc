import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
} from '../../../src/api/resources.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { HELLO_DEFINITION, HELLOS, hello, helloReference } from '../../support/hello.ts';
import { orders } from '../../support/orders.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { seeded, seedOf } from '../../support/random.ts';
import { workingNodes } from '../../support/working-nodes.ts';

/** All orders, or some where there is not the time for that. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SAMPLE = 12;
const SEED = seedOf();

const ALL = orders(['definition', 'source', 'grant', 'class', 'claim', 'pod'] as const);
const random = seeded(SEED);
const CHOSEN = MANY
  ? ALL
  : Array.from({ length: SAMPLE }, () => ALL.splice(Math.floor(random() * ALL.length), 1)).flat();

let cluster: PopulationCluster;
let controller: TestController;
beforeAll(async () => {
  cluster = await startPopulationCluster();
  controller = await startController(cluster.client, {
    executor: workingNodes(),
    // What a write of another controller makes old is decided anew.
    retry: { startMs: 50, maxMs: 500 },
    provisioning: { namespace: OWN, crossNamespace: true },
  });
});
afterAll(async () => {
  await controller.stop();
  await cluster.stop();
});

const GRANT = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'ReferenceGrant',
  metadata: { name: 'hellos', namespace: 'prod' },
  spec: {
    from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: NAMESPACE }],
    to: [{ group: HELLOS.group, kind: HELLOS.kind }],
  },
} as KubeObject;

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'user', namespace: NAMESPACE },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  },
} as KubeObject;

const make = (resource: Resource, object: KubeObject) => () =>
  cluster.client.create(resource, object, { namespace: object.metadata.namespace });
const MAKE = {
  definition: make(POPULATOR_DEFINITIONS, HELLO_DEFINITION),
  source: make(HELLOS, hello('theirs', 'prod')),
  grant: make(REFERENCE_GRANTS, GRANT),
  class: () => cluster.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' }),
  claim: () =>
    cluster.createClaim('data', {
      storageClassName: 'waits',
      dataSourceRef: helloReference('theirs', 'prod'),
    }),
  pod: make(PODS, POD),
};

test.each(CHOSEN)('%s, %s, %s, %s, %s, %s', async (...order) => {
  for (const each of order) await MAKE[each]();
  const { spec } = await cluster.isBound('data');
  expect(cluster.contents.get(spec.volumeName ?? '')).toEqual({ 'hello.txt': 'Hello, world!' });
  await cluster.isClean();

  const { client } = cluster;
  await client.delete(PODS, 'user', { namespace: NAMESPACE });
  await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace: NAMESPACE });
  await client.delete(POPULATOR_DEFINITIONS, 'hello');
  await client.delete(HELLOS, 'theirs', { namespace: 'prod' });
  await client.delete(REFERENCE_GRANTS, 'hellos', { namespace: 'prod' });
  await cluster.isEmpty();
  await client.delete(STORAGE_CLASSES, 'waits');
  await cluster.gone(PODS, 'user', NAMESPACE);
  await cluster.gone(PERSISTENT_VOLUME_CLAIMS, 'data', NAMESPACE);
});
