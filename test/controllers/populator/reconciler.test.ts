import { expect, test } from '@jest/globals';
import type { Pod } from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { originOf } from '../../../src/controllers/populator/attempts.ts';
import { MAX_RUNNING } from '../../../src/controllers/populator/before-pod.ts';
import {
  createPopulatorReconciler,
  type PopulatorDeps,
} from '../../../src/controllers/populator/reconciler.ts';
import type { Informer } from '../../../src/kube/informer.ts';
import type { Change } from '../../../src/kube/store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { populated } from './decisions.ts';
import {
  annotated,
  claim,
  definition,
  found,
  OWN,
  pod,
  prime,
  pv,
  storageClass,
  UID,
} from './input.ts';

/** Creates an informer with these objects. */
function informerOf<T extends KubeObject>(...objects: T[]) {
  const handlers: ((change: Change<T>) => void)[] = [];
  const informer = {
    get: (name: string, namespace?: string) =>
      objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
    list: () => objects,
    onChange: (handler: (change: Change<T>) => void) => handlers.push(handler),
    recordWrite: (object: T) => objects.push(object),
  } as unknown as Informer<T>;
  const begin = () => {
    for (const object of objects)
      for (const handler of handlers) handler({ type: 'added', object } as Change<T>);
  };
  return { informer, begin };
}

test('a persisting problem is reported again after its event expires', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const claims = informerOf(claim());
  const reconciler = createPopulatorReconciler({
    ...{ clock, namespace: OWN, claims: claims.informer },
    pods: informerOf().informer,
    persistentVolumes: informerOf().informer,
    storageClasses: informerOf(storageClass()).informer,
    definitions: informerOf(definition).informer,
    findSource: async () => ({
      is: 'waits',
      event: {
        type: 'Warning',
        reason: 'PopulatorDataSourceNotFound',
        message: 'Hello example does not exist',
      },
    }),
    events: {
      event: (_object: object, _type: string, reason: string) => told.push(reason),
      flush: async () => {},
    },
    ...{ user: 65532, consumerTolerations: () => [] },
  } as unknown as PopulatorDeps);
  claims.begin();
  const look = () => reconciler.reconcile(UID, new AbortController().signal);
  for (let minutes = 0; minutes < 130; minutes += 5) {
    expect(await look()).toEqual({ requeueAfterMs: 300_000 });
    await clock.advance(300_000);
  }
  // At 0 and 65 minutes.
  expect(told).toHaveLength(2);
});

const NO_NODE = {
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

test.each<[string, object, string | undefined]>([
  ['about to be scheduled', {}, 'PopulatorCreated: 16 pods already fill volumes'],
  ['without a suitable node', NO_NODE, undefined],
])('pods count for the limit unless they are unschedulable: pods %s', async (_, status, said) => {
  const told: string[] = [];
  const claims = informerOf(claim(), prime());
  const pvs = informerOf(pv());
  const others = Array.from({ length: MAX_RUNNING }, (_each, index) =>
    pod('Pending', {
      metadata: { name: `populate-${index}` },
      status: { phase: 'Pending', ...status },
    }),
  );
  const pods = informerOf<Pod>(...others);
  const reconciler = createPopulatorReconciler({
    ...{ clock: new FakeClock(), namespace: OWN, claims: claims.informer, pods: pods.informer },
    persistentVolumes: pvs.informer,
    storageClasses: informerOf(storageClass()).informer,
    definitions: informerOf(definition).informer,
    findSource: async () => found,
    client: { create: async (_resource: object, object: KubeObject) => object },
    events: {
      event: (_object: object, _type: string, reason: string, message: string) =>
        told.push(`${reason}: ${message}`),
    },
    logger: { info() {} },
    ...{ user: 65532, consumerTolerations: () => [] },
  } as unknown as PopulatorDeps);
  for (const { begin } of [claims, pvs]) begin();
  await reconciler.reconcile(UID, new AbortController().signal);
  const name = `populate-${UID}`;
  expect(pods.informer.get(name, OWN) === undefined).toBe(said !== undefined);
  expect(told).toEqual([
    expect.stringContaining(said ?? `PopulatorCreated: pod ${OWN}/${name} fills the volume`),
  ]);
});

test.each<[string, 'success' | 'error']>([
  ['Succeeded', 'success'],
  ['Failed', 'error'],
])(
  'a pod that has %s is counted with its duration, also after a change of leader',
  async (phase, result) => {
    const clock = new FakeClock();
    const creationTimestamp = new Date(clock.now() - 600_000).toISOString();
    const claims = informerOf(claim(), phase === 'Succeeded' ? populated : prime());
    const pvs = informerOf(pv());
    const pods = informerOf<Pod>(pod(phase, { metadata: { creationTimestamp } }));
    const ended: object[] = [];
    const reconciler = createPopulatorReconciler({
      ...{ clock, namespace: OWN, claims: claims.informer, pods: pods.informer },
      persistentVolumes: pvs.informer,
      storageClasses: informerOf(storageClass()).informer,
      definitions: informerOf(definition).informer,
      findSource: async () => found,
      client: {
        serverTime: () => clock.timeOfDay(),
        get: async () => claim(),
        delete: async () => pods.informer.list().splice(0),
        patch: async (_resource: object, _name: string, patch: object) => patch,
      },
      events: { event() {}, flush: async () => {} },
      onPopulated: (end: object) => ended.push(end),
      logger: { info() {} },
      ...{ user: 65532, consumerTolerations: () => [] },
    } as unknown as PopulatorDeps);
    for (const { begin } of [claims, pvs]) begin();
    // Patches change nothing here, so that reconciling would not end.
    const look = () => reconciler.reconcile(UID, new AbortController().signal).catch(() => {});
    for (let round = 0; round < 3 && ended.length === 0; round++) await look();
    expect(ended[0]).toMatchObject({ result, ms: 600_000 });
  },
);

test('a pod that is created again with other tolerations counts as no failure', async () => {
  const clock = new FakeClock();
  const of = originOf(definition, found.object);
  const attempts = JSON.stringify({ failed: 1, pod: 'earlier', message: 'x', at: 0, of });
  const claims = informerOf(
    claim(),
    annotated(prime(), { 'stowage.dev/populate-attempts': attempts }),
  );
  const pvs = informerOf(pv());
  const conditions = [{ type: 'PodScheduled', status: 'False', message: 'untolerated taint' }];
  const patches: object[] = [];
  const ended: object[] = [];
  const reconciler = createPopulatorReconciler({
    ...{ clock, namespace: OWN, claims: claims.informer, persistentVolumes: pvs.informer },
    pods: informerOf<Pod>(pod('Pending', { status: { phase: 'Pending', conditions } })).informer,
    storageClasses: informerOf(storageClass()).informer,
    definitions: informerOf(definition).informer,
    findSource: async () => found,
    client: {
      serverTime: () => clock.timeOfDay(),
      patch: async (_resource: object, _name: string, patch: object) => {
        patches.push(patch);
        return patch;
      },
    },
    events: { event() {}, flush: async () => {} },
    onPopulated: (end: object) => ended.push(end),
    logger: { info() {} },
    ...{ user: 65532, consumerTolerations: () => [{ key: 'dedicated', operator: 'Exists' }] },
  } as unknown as PopulatorDeps);
  for (const { begin } of [claims, pvs]) begin();
  // Patches change nothing here, so that reconciling would not end.
  await reconciler.reconcile(UID, new AbortController().signal).catch(() => {});
  expect(JSON.stringify(patches[0])).toContain('\\"failed\\":1,\\"pod\\":\\"pod-uid\\"');
  expect(ended).toEqual([]);
});

test.each([
  ['set back by two hours', -7_200_000, 0],
  ['set forward by a day', 86_400_000, 0],
  ['set back by two hours, after a restart of the daemon', -7_200_000, 300_000],
])('a pod that does not start fails after 10 minutes, with a clock %s', async (_, step, age) => {
  const clock = new FakeClock();
  const creationTimestamp = new Date(clock.now()).toISOString();
  const serverTime = () => clock.now() + age;
  const claims = informerOf(claim(), prime());
  const pvs = informerOf(pv());
  const state = { waiting: { reason: 'ImagePullBackOff', message: 'x' } };
  const pods = informerOf<Pod>(
    pod('Pending', {
      metadata: { creationTimestamp },
      spec: { nodeName: 'n1' },
      status: { phase: 'Pending', containerStatuses: [{ name: 'populate', state }] },
    }),
  );
  const failed: object[] = [];
  const reconciler = createPopulatorReconciler({
    ...{ clock, namespace: OWN, claims: claims.informer, pods: pods.informer },
    persistentVolumes: pvs.informer,
    storageClasses: informerOf(storageClass()).informer,
    definitions: informerOf(definition).informer,
    findSource: async () => found,
    client: {
      serverTime,
      delete: async () => {},
      patch: async (_resource: object, _name: string, patch: object) => {
        failed.push(patch);
        return patch;
      },
    },
    events: { event() {}, flush: async () => {} },
    logger: { info() {}, warn() {} },
    ...{ user: 65532, consumerTolerations: () => [] },
  } as unknown as PopulatorDeps);
  for (const { begin } of [claims, pvs]) begin();
  // Patches change nothing here, so that reconciling would not end.
  const look = () => reconciler.reconcile(UID, new AbortController().signal).catch(() => {});
  clock.set(step);
  await look();
  await clock.advance(599_000 - age);
  await look();
  expect(failed).toEqual([]);
  await clock.advance(1000);
  await look();
  expect(failed.length).toBeGreaterThan(0);
});
