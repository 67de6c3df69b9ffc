import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import {
  PERSISTENT_VOLUME_CLAIMS,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
} from '../../../src/api/resources.ts';
import { describeAsRoot } from '../../support/root.ts';
import { grantNamed } from '../../support/snapshots.ts';
import { missingPairs, someOrders } from './orders.ts';
import { withTerminationLog } from './pods.ts';
import { FILL, type PopulatorsScene, startPopulatorsScene } from './populators-scene.ts';

jest.setTimeout(300_000);

type Thing = 'definition' | 'source' | 'grant' | 'class' | 'claim' | 'pod';

const ORDERS = someOrders<Thing>(['definition', 'source', 'grant', 'class', 'claim', 'pod']);

/** Timeout (ms) for all pods of all stories on one machine. */
const WITHIN = 240_000;

/**
 * Creates a story in namespaces, with a class and of a kind of its own: a claim that starts from
 * another namespace's source.
 */
async function storyOf(scene: PopulatorsScene, index: number) {
  const { client } = scene;
  const [here, there, name] = [`here-${index}`, `there-${index}`, `order-${index}`] as const;
  const text = randomUUID();
  for (const namespace of [here, there]) await scene.createNamespace(namespace);
  const kind = await scene.createKind(`${name}.example.com`);
  const pods = scene.podsIn(here, WITHIN);

  const create: Record<Thing, () => Promise<unknown>> = {
    definition: () => kind.register(name, FILL),
    source: () => kind.source('theirs', there, text),
    grant: () => {
      const spec = {
        from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: here }],
        to: [{ group: kind.resource.group, kind: kind.resource.kind }],
      };
      const grant = grantNamed('grant', spec, { namespace: there });
      return client.create(REFERENCE_GRANTS, grant, { namespace: there });
    },
    class: () => scene.createClass(name, { volumeBindingMode: 'WaitForFirstConsumer' }),
    claim: () =>
      scene.createClaim(
        'data',
        { storageClassName: name, dataSourceRef: kind.reference('theirs', there) },
        here,
      ),
    pod: () =>
      pods.create(
        'reads',
        [{ claim: 'data', mode: 'Filesystem' }],
        withTerminationLog('cat /volumes/data/hello.txt'),
      ),
  };
  return {
    create,
    text,
    read: async () => (await pods.ended('reads')).trimEnd(),
    finished: async () =>
      (await scene.eventsOf('data', here)).filter((event) => event.startsWith('PopulatorFinished'))
        .length,
    async remove() {
      await scene.remove(PERSISTENT_VOLUME_CLAIMS, 'data', here);
      await scene.remove(REFERENCE_GRANTS, 'grant', there);
      await scene.remove(kind.resource, 'theirs', there);
      await client.delete(POPULATOR_DEFINITIONS, name);
      await client.delete(VOLUME_POPULATORS, name);
      await client.delete(STORAGE_CLASSES, name);
    },
  };
}

/** Runs stories in twelve orders concurrently in one cluster, as they mostly wait. */
describeAsRoot('claims that real pods populate, with objects created in any order', () => {
  let scene: PopulatorsScene;
  let stories: Awaited<ReturnType<typeof storyOf>>[];
  let read: PromiseSettledResult<string>[];
  let marks = 0;

  /**
   * Waits until the daemon has observed all earlier changes: it then binds a claim that is created
   * now.
   */
  async function isSettled(): Promise<void> {
    const mark = `mark-${++marks}`;
    await scene.createClaim(mark, { storageClassName: 'immediate', dataSourceRef: undefined });
    await scene.isBound(mark);
    await scene.remove(PERSISTENT_VOLUME_CLAIMS, mark);
  }

  beforeAll(async () => {
    scene = await startPopulatorsScene();
    await scene.createClass('immediate');
    stories = await Promise.all(ORDERS.map((_, index) => storyOf(scene, index)));
    for (const step of ORDERS[0]?.keys() ?? []) {
      await Promise.all(
        stories.map((story, index) => story.create[ORDERS[index]?.[step] as Thing]()),
      );
      await isSettled();
    }
    read = await Promise.allSettled(stories.map((story) => story.read()));
  }, 600_000);
  afterAll(() => scene?.stop());

  test('the sampled orders include both orders of each pair of objects', () => {
    expect([ORDERS.length, missingPairs(ORDERS)]).toEqual([12, []]);
  });

  test.each(ORDERS.map((order, index) => [order.join(', '), index] as const))(
    '%s: the pod reads the text',
    (_, index) => expect(read[index]).toEqual({ status: 'fulfilled', value: stories[index]?.text }),
  );

  test('each claim is populated once, and nothing is left after deletion', async () => {
    await scene.isClean(WITHIN);
    expect(await Promise.all(stories.map((story) => story.finished()))).toEqual(
      ORDERS.map(() => 1),
    );
    await Promise.all(stories.map((story) => story.remove()));
    await scene.isEmpty();
  });
});
