import { expect, test } from '@jest/globals';
import type { Pod } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { Informer } from '../../src/kube/informer.ts';
import { type Change, ObjectStore } from '../../src/kube/store.ts';
import { createPopulation, type PopulationDeps } from '../../src/manager/population.ts';
import type { Run } from '../../src/manager/runnable.ts';
import {
  claim,
  definition,
  found,
  prime,
  pv,
  storageClass,
  UID,
} from '../controllers/populator/input.ts';
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
    absentCrds: { report() {} },
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

/** Creates an informer that is synced, with these objects. */
function informerOf<T extends KubeObject>(...objects: T[]) {
  const store = new ObjectStore<T>();
  const handlers: ((change: Change<T>) => void)[] = [];
  let version = 0;
  const put = (object: T) => {
    version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    for (const change of store.put({ ...object, metadata }))
      for (const handler of handlers) handler(change);
  };
  const informer = {
    get: (name: string, namespace?: string) => store.get(name, namespace),
    list: () => [...store.list()],
    onChange: (handler: (change: Change<T>) => void) => handlers.push(handler),
    synced: Promise.resolve(),
    lastHeard: () => 0,
    recordWrite: put,
  } as unknown as Informer<T>;
  return {
    informer,
    put,
    begin() {
      for (const object of objects) put(object);
    },
  };
}

const consumer = (name: string, spec: object): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', uid: name } },
  spec: {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    ...spec,
  },
});

test('a pod that waits for a claim wakes it, and its tolerations reach the pod that fills it', async () => {
  const claims = informerOf(claim(), prime());
  const consumers = informerOf<Pod>();
  const [pvs, classes, nodes] = [informerOf(pv()), informerOf(storageClass()), informerOf()];
  const definitions = informerOf({ ...definition });
  const created: Pod[] = [];
  const client = {
    serverTime: () => undefined,
    get: async () => found.object,
    create: async (_resource: Resource, object: Pod) => {
      created.push(object);
      return object;
    },
  };
  const part = createPopulation({
    ...{ namespace: 'stowage', clock: new FakeClock(), logger: memoryLogger(), client },
    absentCrds: { report() {} },
    ...{ claims: claims.informer, persistentVolumes: pvs.informer, nodes: nodes.informer },
    ...{ storageClasses: classes.informer, pods: consumers.informer, workers: 1 },
    ...{ grants: { onChange() {} }, events: { event() {} }, random: () => 0 },
    enabled: new Set(['populator']),
    inform: ({ plural }: Resource) =>
      plural === 'populatordefinitions' ? definitions.informer : informerOf().informer,
  } as unknown as PopulationDeps);
  for (const each of [claims, pvs, classes, definitions]) each.begin();
  const [queue, reconcile] = await new Promise<[Parameters<Run>[1], Parameters<Run>[2]]>(
    (resolve) => part.begin(Promise.resolve(), (_name, ...of) => resolve([of[0], of[1]])),
  );
  while (queue.depth() > 0) queue.done((await queue.get()) ?? '');

  // A pod that has a node neither waits nor counts.
  consumers.put(consumer('runs', { nodeName: 'n1' }));
  expect(queue.depth()).toBe(0);
  consumers.put(consumer('waits', { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }));
  expect(queue.depth()).toBe(1);
  expect(await queue.get()).toBe(UID);
  await reconcile(UID, new AbortController().signal);
  expect(created).toMatchObject([
    {
      metadata: { name: `populate-${UID}`, namespace: 'stowage' },
      spec: {
        tolerations: [{ key: 'dedicated', operator: 'Exists' }],
        securityContext: { runAsUser: 65532, runAsNonRoot: true },
      },
    },
  ]);
});
