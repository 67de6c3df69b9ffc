import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IMAGES } from '../../../src/api/builtins/image.ts';
import type { KubeObject, Resource } from '../../../src/api/meta.ts';
import type { PopulatorDefinition } from '../../../src/api/populator.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PODS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../../src/api/resources.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { createImage, fromImage } from '../../support/images.ts';
import { orders } from '../../support/orders.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { seeded, seedOf } from '../../support/random.ts';
import { workingNodes } from '../../support/working-nodes.ts';

/** What a claim that is filled on its node is made from, in every order; or in some where there is not the time for all 720. */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SAMPLE = 24;
const SEED = seedOf();

const ALL = orders(['definition', 'source', 'grant', 'class', 'claim', 'pod'] as const);
const random = seeded(SEED);
const CHOSEN = MANY
  ? ALL
  : Array.from({ length: SAMPLE }, () => ALL.splice(Math.floor(random() * ALL.length), 1)).flat();

const URL = 'https://images.example.com/disk';

let cluster: PopulationCluster;
let controller: TestController;
const nodes = workingNodes();
beforeAll(async () => {
  cluster = await startPopulationCluster();
  controller = await startController(cluster.client, {
    executor: nodes,
    // What a write of another controller makes old is decided anew.
    retry: { startMs: 50, maxMs: 500 },
    provisioning: { namespace: OWN, crossNamespace: true },
  });
});
afterAll(async () => {
  await controller.stop();
  await cluster.stop();
});

const DEFINITION: PopulatorDefinition = {
  ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'PopulatorDefinition', metadata: { name: 'image' } },
  spec: {
    sourceKind: { group: IMAGES.group, kind: IMAGES.kind },
    resource: { version: IMAGES.version, plural: IMAGES.plural, scope: 'Namespaced' },
    node: { builtin: 'Image' },
  },
};

const GRANT = {
  ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'ReferenceGrant' },
  metadata: { name: 'images', namespace: 'prod' },
  spec: {
    from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: NAMESPACE }],
    to: [{ group: IMAGES.group, kind: IMAGES.kind }],
  },
} as KubeObject;

const POD = {
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user', namespace: NAMESPACE } },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  },
} as KubeObject;

const make = (resource: Resource, object: KubeObject) => () =>
  cluster.client.create(resource, object, { namespace: object.metadata.namespace });
const MAKE = {
  definition: make(POPULATOR_DEFINITIONS, DEFINITION),
  source: () => createImage(cluster.client, 'prod/disk', { source: { url: URL } }),
  grant: make(REFERENCE_GRANTS, GRANT),
  class: () => cluster.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' }),
  claim: () =>
    cluster.createClaim('data', { storageClassName: 'waits', dataSourceRef: fromImage('disk', 'prod') }),
  pod: make(PODS, POD),
};

/** What is in the files of volumes on all nodes. */
const filled = () =>
  ['n1', 'n2'].flatMap((node) =>
    [...nodes.disk(node).files].flatMap(([path, file]) =>
      'uuid' in file ? [`${path.endsWith('.partial') ? 'half of ' : ''}${file.data}`] : [],
    ),
  );

test.each(CHOSEN)('%s, %s, %s, %s, %s, %s', async (...order) => {
  for (const each of order) await MAKE[each]();
  await cluster.isBound('data');
  expect(filled()).toEqual([URL]);
  expect(await cluster.all(VOLUMES)).toHaveLength(1);
  expect(await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN)).toEqual([]);

  const { client } = cluster;
  await client.delete(PODS, 'user', { namespace: NAMESPACE });
  await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace: NAMESPACE });
  await client.delete(POPULATOR_DEFINITIONS, 'image');
  await client.delete(IMAGES, 'disk', { namespace: 'prod' });
  await client.delete(REFERENCE_GRANTS, 'images', { namespace: 'prod' });
  await cluster.isEmpty();
  await client.delete(STORAGE_CLASSES, 'waits');
  await cluster.gone(PODS, 'user', NAMESPACE);
  await cluster.gone(PERSISTENT_VOLUME_CLAIMS, 'data', NAMESPACE);
  expect(filled()).toEqual([]);
});
