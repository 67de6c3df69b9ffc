import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
import { HELLO_DEFINITION, HELLOS, helloReference } from '../../support/hello.ts';
import { createImage, fromImage } from '../../support/images.ts';
import { orders } from '../../support/orders.ts';
import {
  NAMESPACE,
  OWN,
  type PopulationCluster,
  podOf,
  populatorGrant,
  startPopulationCluster,
} from '../../support/population-cluster.ts';
import { seeded, seedOf } from '../../support/random.ts';
import { workingNodes } from '../../support/working-nodes.ts';

/**
 * Tests all orders of creating the objects that a claim needs. Otherwise a sample, as 720 orders
 * take long.
 */
const MANY = process.env.STOWAGE_FAULTS !== undefined;
const SEED = seedOf();
const URL = 'https://images.example.com/disk';

const nodes = workingNodes();
let cluster: PopulationCluster;
beforeAll(async () => {
  cluster = await startPopulationCluster();
  // A short retry: another controller's write may make a decision stale.
  await cluster.startDaemon({ executor: nodes, retry: { startMs: 50, maxMs: 500 } });
});
afterAll(() => cluster.stop());

/** Returns the data in the volumes' files on all nodes. */
const onNodes = () =>
  ['n1', 'n2'].flatMap((node) =>
    [...nodes.disk(node).files].flatMap(([path, file]) =>
      'uuid' in file ? [`${path.endsWith('.partial') ? 'half of ' : ''}${file.data}`] : [],
    ),
  );

const IMAGE_DEFINITION: PopulatorDefinition = {
  ...{
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'PopulatorDefinition',
    metadata: { name: 'image' },
  },
  spec: {
    sourceKind: { group: IMAGES.group, kind: IMAGES.kind },
    resource: { version: IMAGES.version, plural: IMAGES.plural, scope: 'Namespaced' },
    node: { builtin: 'Image' },
  },
};

interface Kind {
  samples: number;
  resource: Resource;
  definition: PopulatorDefinition;
  reference: ReturnType<typeof helloReference>;
  createSource(): Promise<unknown>;
  /** Returns the data of the volume with that name. */
  filled(volumeName: string): unknown;
  expected: unknown;
}
const KINDS: [string, Kind][] = [
  [
    'a pod',
    {
      ...{ samples: 12, resource: HELLOS, definition: HELLO_DEFINITION },
      reference: helloReference('source', 'prod'),
      createSource: () => cluster.createHello('source', undefined, 'prod'),
      filled: (volumeName) => cluster.contents.get(volumeName),
      expected: { 'hello.txt': 'Hello, world!' },
    },
  ],
  [
    'its node',
    {
      ...{ samples: 24, resource: IMAGES, definition: IMAGE_DEFINITION },
      reference: { ...fromImage('source', 'prod') },
      createSource: () => createImage(cluster.client, 'prod/source', { source: { url: URL } }),
      filled: onNodes,
      expected: [URL],
    },
  ],
];

describe.each(KINDS)('a claim is filled by %s after', (_, kind) => {
  const { resource, definition, reference } = kind;
  const create = (of: Resource, object: KubeObject) => () =>
    cluster.client.create(of, object, { namespace: object.metadata.namespace });
  const CREATE = {
    definition: create(POPULATOR_DEFINITIONS, definition),
    source: kind.createSource,
    grant: create(REFERENCE_GRANTS, populatorGrant(resource)),
    class: () => cluster.createClass('waits', { volumeBindingMode: 'WaitForFirstConsumer' }),
    claim: () =>
      cluster.createClaim('data', { storageClassName: 'waits', dataSourceRef: reference }),
    pod: create(PODS, podOf('data')),
  };
  const all = orders(Object.keys(CREATE) as (keyof typeof CREATE)[]);
  const random = seeded(SEED);
  const sample = () => all.splice(Math.floor(random() * all.length), 1);
  const chosen = MANY ? all : Array.from({ length: kind.samples }, sample).flat();

  test.each(chosen)('%s, %s, %s, %s, %s, %s', async (...order) => {
    const { client } = cluster;
    for (const each of order) await CREATE[each]();
    const { spec } = await cluster.isBound('data');
    expect(kind.filled(spec.volumeName ?? '')).toEqual(kind.expected);
    await cluster.isClean();
    expect(await cluster.all(VOLUMES)).toHaveLength(1);
    expect(await cluster.all(PERSISTENT_VOLUME_CLAIMS, OWN)).toEqual([]);

    await client.delete(PODS, 'user', { namespace: NAMESPACE });
    await client.delete(PERSISTENT_VOLUME_CLAIMS, 'data', { namespace: NAMESPACE });
    await client.delete(POPULATOR_DEFINITIONS, definition.metadata.name);
    await client.delete(resource, 'source', { namespace: 'prod' });
    await client.delete(REFERENCE_GRANTS, 'to-default', { namespace: 'prod' });
    await cluster.isEmpty();
    await client.delete(STORAGE_CLASSES, 'waits');
    await cluster.gone(PODS, 'user', NAMESPACE);
    await cluster.gone(PERSISTENT_VOLUME_CLAIMS, 'data', NAMESPACE);
    expect(onNodes()).toEqual([]);
  });
});
