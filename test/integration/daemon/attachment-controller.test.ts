import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type {
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../src/api/core.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import { ATTACHED_NODES_ANNOTATION, VOLUMES_ATTACHED_CONDITION } from '../../../src/api/names.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume, VolumeSpec } from '../../../src/api/volume.ts';
import { systemClock } from '../../../src/control/clock.ts';
import type { KubeClient } from '../../../src/kube/types.ts';
import { sparseVolume, startCluster, type TestCluster } from '../../support/cluster.ts';
import { startController, type TestController } from '../../support/controller.ts';
import { until } from '../../support/until.ts';
import { type WorkingNodes, workingNodes } from '../../support/working-nodes.ts';

/** The controller in the daemon, against a sandbox's API server and nodes in memory that carry out what they are told. */

const NAMESPACE = 'default';
/** Progress is shown a second after an operation began, in ms. */
const PAST_PROGRESS = 2000;

let cluster: TestCluster;
let client: KubeClient;
let controller: TestController;
let nodes: WorkingNodes;
let writes: string[];
/** Of attachments, as they were written. */
let states: string[];

/** The client, with its writes put down. */
const noting = (real: KubeClient): KubeClient => ({
  ...real,
  patch: (resource, name, patch, options) => {
    writes.push(`patch ${resource.plural}${options?.subresource === undefined ? '' : '/status'} ${name}`);
    const { attachments } = (patch as Partial<Volume>).status ?? {};
    states.push(...(attachments ?? []).map(({ state }) => state));
    return real.patch(resource, name, patch, options);
  },
});

beforeEach(async () => {
  cluster = await startCluster();
  client = cluster.client;
  nodes = workingNodes();
  writes = [];
  states = [];
  await createNode('n1');
  controller = await startController(noting(client), { executor: nodes });
});

afterEach(async () => {
  await controller.stop();
  await cluster.stop();
});

async function restart(): Promise<void> {
  await controller.stop();
  controller = await startController(noting(client), { executor: nodes });
}

const createNode = (name: string, status: 'True' | 'False' = 'True') =>
  client
    .create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
    .then(() => setReady(name, status));
const setReady = (name: string, status: 'True' | 'False', since = new Date()) =>
  client.patch(
    NODES,
    name,
    {
      status: {
        conditions: [{ type: 'Ready', status, lastTransitionTime: since.toISOString().replace(/\.\d+/, '') }],
      },
    },
    { subresource: 'status' },
  );

const createVolume = (name: string, more: Partial<VolumeSpec> = {}): Promise<Volume> => {
  const volume = sparseVolume(name, 'n1', '32Mi');
  return client.create(VOLUMES, { ...volume, spec: { ...volume.spec, ...more } });
};
const volumeNow = (name: string) => client.get<Volume>(VOLUMES, name);
const attachmentsOf = async (name: string) => (await volumeNow(name)).status?.attachments;
const available = (name: string) =>
  until(`${name} is Available`, async () =>
    (await volumeNow(name)).status?.phase === 'Available' ? true : undefined,
  );
const isAttached = (name: string, node = 'n1') =>
  until(`${name} is attached to ${node}`, async () =>
    (await attachmentsOf(name))?.find((each) => each.node === node && each.safeToMount),
  );
const isDetached = (name: string) =>
  until(`${name} is detached`, async () => ((await attachmentsOf(name))?.length === 0 ? true : undefined));
const record = async (name: string) =>
  (await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name)).metadata.annotations?.[
    ATTACHED_NODES_ANNOTATION
  ];

/** A claim that is bound to the Volume's PersistentVolume. */
async function claim(name: string): Promise<void> {
  const made = await client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      volumeName: name,
      storageClassName: 'local',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Mi' } },
    },
  } as PersistentVolumeClaim);
  await until(`the claim ${name} is bound`, async () => {
    const pv = await client.get<PersistentVolume>(PERSISTENT_VOLUMES, name);
    return pv.spec.claimRef?.uid === made.metadata.uid ? true : undefined;
  });
}

const createPod = (name: string, claimName: string, nodeName = 'n1'): Promise<Pod> =>
  client.create<Pod>(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  } as Pod);
const deletePod = (name: string) => client.delete(PODS, name, { namespace: NAMESPACE });
const podCondition = async (name: string) =>
  (await client.get<Pod>(PODS, name, { namespace: NAMESPACE })).status?.conditions?.find(
    ({ type }) => type === VOLUMES_ATTACHED_CONDITION,
  );
const eventsOf = async (name: string): Promise<string[]> =>
  (await client.list<KubeEvent & KubeObject>(EVENTS, {})).items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason }) => reason);

describe('an Always Volume', () => {
  test('is told to be attached where it was made, and on the PersistentVolume', async () => {
    await createVolume('a');
    expect(await isAttached('a')).toMatchObject({ state: 'Attached', safeToMount: true, pods: [] });
    expect(await record('a')).toBe('["n1"]');
  });

  test('is looked after on a node that Kubernetes does not know', async () => {
    await client.delete(NODES, 'n1');
    await createVolume('a');
    await isAttached('a');
    await client.delete(VOLUMES, 'a');
    await until('it is gone', async () =>
      (await client.get(VOLUMES, 'a').catch(() => undefined)) === undefined ? true : undefined,
    );
    expect(nodes.loopsOn('n1')).toBe(0);
  });

  test('is attached again where someone detached it', async () => {
    await createVolume('a');
    await isAttached('a');
    await available('a');
    nodes.detachAll('n1');
    await setReady('n1', 'False');
    await setReady('n1', 'True');
    await until('there is a loop again', async () => (nodes.loopsOn('n1') === 1 ? true : undefined));
    await isAttached('a');
    await available('a');
  });

  test('after a restart, none of many on a node is written while they wait to be looked at', async () => {
    // More than are looked at on a node at once.
    const names = Array.from({ length: 30 }, (_, index) => `v${index}`);
    for (const name of names) await createVolume(name);
    for (const name of names) await available(name);
    for (const name of names) await isAttached(name);
    await controller.idle();
    await controller.stop();
    writes = [];
    const looked = new Set<string>();
    const { observe } = nodes;
    nodes.observe = async (node, probes) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      for (const name of JSON.stringify(probes).match(/[0-9a-f-]{36}/g) ?? []) looked.add(name);
      return observe(node, probes);
    };
    controller = await startController(noting(client), { executor: nodes });
    await until('all were looked at', async () => (looked.size >= names.length ? true : undefined));
    await controller.idle(PAST_PROGRESS);
    expect(writes).toEqual([]);
  });

  test('is attached though nodes that it can never be on are recorded, and the record is put right', async () => {
    await createVolume('a');
    await available('a');
    await isAttached('a');
    await createNode('n9');
    nodes.away.add('n9');
    await controller.stop();
    nodes.detachAll('n1');
    const annotations = { [ATTACHED_NODES_ANNOTATION]: '["n1","n8","n9"]' };
    await client.patch(PERSISTENT_VOLUMES, 'a', { metadata: { annotations } });
    controller = await startController(noting(client), { executor: nodes });
    await until('there is a loop again', async () => (nodes.loopsOn('n1') === 1 ? true : undefined));
    await until('the record is right', async () => ((await record('a')) === '["n1"]' ? true : undefined));
    expect(await isAttached('a')).toMatchObject({ node: 'n1', state: 'Attached' });
    expect(await attachmentsOf('a')).toHaveLength(1);
    expect(await eventsOf('a')).not.toContain('ForcedDetach');
  });

  test('is detached before it is destroyed', async () => {
    await createVolume('a');
    await isAttached('a');
    await client.delete(VOLUMES, 'a');
    await until('it is gone', async () =>
      (await client.get(VOLUMES, 'a').catch(() => undefined)) === undefined ? true : undefined,
    );
    expect(nodes.loopsOn('n1')).toBe(0);
  });
});

describe('an OnDemand Volume', () => {
  beforeEach(async () => {
    await createVolume('a', { attachPolicy: 'OnDemand' });
    await available('a');
    await claim('a');
  });

  test('is made without being attached', async () => {
    expect(nodes.loopsOn('n1')).toBe(0);
    expect(await record('a')).toBe('[]');
  });

  test('is attached for a pod, which is told, and detached after the last of two', async () => {
    await createPod('p1', 'a');
    expect(await isAttached('a')).toMatchObject({ pods: ['default/p1'] });
    await createPod('p2', 'a');
    await until('both are listed', async () =>
      (await attachmentsOf('a'))?.[0]?.pods.length === 2 ? true : undefined,
    );
    await until('p2 is told', async () => ((await podCondition('p2'))?.status === 'True' ? true : undefined));
    const jobs = nodes.started;
    expect(await record('a')).toBe('["n1"]');
    expect((await podCondition('p1'))?.status).toBe('True');
    await until('the event', async () =>
      (await eventsOf('p1')).includes('SuccessfulAttachVolume') ? true : undefined,
    );
    await deletePod('p1');
    await until('one is listed', async () =>
      (await attachmentsOf('a'))?.[0]?.pods.length === 1 ? true : undefined,
    );
    expect(nodes.started).toBe(jobs);
    await deletePod('p2');
    await isDetached('a');
    expect(nodes.started).toBe(jobs + 1);
    expect(nodes.loopsOn('n1')).toBe(0);
    await until('the record is empty', async () => ((await record('a')) === '[]' ? true : undefined));
  });

  test('of an attach and of a detach, each thing is written once', async () => {
    const written = async (change: () => Promise<unknown>, done: () => Promise<boolean>) => {
      writes = [];
      await change();
      await until('all is written', async () => ((await done()) ? true : undefined));
      return writes.toSorted();
    };
    const tells = async (device: boolean) =>
      ((await volumeNow('a')).status?.deviceName !== undefined) === device;
    const attaching = await written(
      () => createPod('p1', 'a'),
      async () => (await podCondition('p1'))?.status === 'True' && (await tells(true)),
    );
    // Where it is, and which device that is.
    const status = 'patch volumes/status a';
    expect(attaching).toEqual(['patch persistentvolumes a', 'patch pods/status p1', status]);
    const detaching = await written(
      () => deletePod('p1'),
      async () => (await record('a')) === '[]' && (await tells(false)),
    );
    expect(detaching).toEqual(['patch persistentvolumes a', status]);
  });

  test('whoever looks after it says nothing of a device that is just being detached', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    await createVolume('b');
    await available('b');
    const { submit } = nodes;
    let during: string | undefined;
    nodes.submit = async (...job) => {
      nodes.submit = submit;
      const state = await submit(...job);
      // Both are to be looked at now, and a comes first.
      for (const name of ['a', 'b']) {
        await client.patch(VOLUMES, name, { spec: { sparseLoopDevice: { size: '64Mi' } } });
      }
      await until('b is looked after', async () =>
        (await volumeNow('b')).status?.job?.startsWith('GrowVolume') ? true : undefined,
      );
      during = (await volumeNow('a')).status?.deviceName;
      return state;
    };
    await deletePod('p1');
    await isDetached('a');
    expect(during).toBe('loop0');
    await until('a is looked after', async () =>
      (await volumeNow('a')).status?.observedGeneration === 2 ? true : undefined,
    );
    expect((await volumeNow('a')).status?.deviceName).toBeUndefined();
  });

  test('what happens during an attach that takes no second is told with its end', async () => {
    await controller.stop();
    const now = Date.now();
    // The second never ends, however long the attach takes.
    const clock = { ...systemClock, now: () => now };
    controller = await startController(noting(client), { executor: nodes, clock });
    const { submit } = nodes;
    nodes.submit = async (node, job, waitMs) => {
      await client.patch(PODS, 'p1', { metadata: { labels: { a: 'b' } } }, { namespace: NAMESPACE });
      await controller.caughtUp();
      return submit(node, job, waitMs);
    };
    await createPod('p1', 'a');
    await until('the pod is told', async () =>
      (await podCondition('p1'))?.status === 'True' ? true : undefined,
    );
    expect(states).toEqual(['Attached']);
  });

  test('those of one node are attached at once, each by a device of its own', async () => {
    const names = ['b', 'c', 'd', 'e', 'f'];
    for (const name of names) await createVolume(name, { attachPolicy: 'OnDemand' });
    for (const name of names) {
      await available(name);
      await claim(name);
    }
    const jobs = nodes.started;
    await Promise.all(names.map((name) => createPod(`p-${name}`, name)));
    await Promise.all(names.map((name) => isAttached(name)));
    expect(nodes.loopsOn('n1')).toBe(names.length);
    expect(nodes.started).toBe(jobs + names.length);
    for (const name of names) expect(await eventsOf(`p-${name}`)).not.toContain('FailedAttachVolume');
  });

  test('a pod on a node where it cannot be waits, and is told why, once', async () => {
    await createNode('n2');
    await createPod('p1', 'a', 'n2');
    const condition = await until('the condition', () => podCondition('p1'));
    expect(condition).toMatchObject({ status: 'False', reason: 'VolumesNotAttached' });
    expect(condition.message).toContain('n2');
    await until('the event', async () =>
      (await eventsOf('p1')).includes('FailedAttachVolume') ? true : undefined,
    );
    expect(nodes.loopsOn('n2')).toBe(0);
  });

  test('after a restart, nothing is done for what is as it should be', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    const jobs = nodes.started;
    await restart();
    await isAttached('a');
    await until('the look has ended', async () =>
      (await attachmentsOf('a'))?.[0]?.state === 'Attached' ? true : undefined,
    );
    expect(nodes.started).toBe(jobs);
  });

  test('is detached after its pod also where the claim went before that', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    const unprotected = { metadata: { finalizers: null } };
    await client.delete(PERSISTENT_VOLUME_CLAIMS, 'a', { namespace: NAMESPACE });
    await client.patch(PERSISTENT_VOLUME_CLAIMS, 'a', unprotected, { namespace: NAMESPACE });
    await until('the claim is gone', async () =>
      (await client.get(PERSISTENT_VOLUME_CLAIMS, 'a', { namespace: NAMESPACE }).catch(() => undefined)) ===
      undefined
        ? true
        : undefined,
    );
    await controller.idle(PAST_PROGRESS);
    expect(await isAttached('a')).toMatchObject({ pods: ['default/p1'] });
    await deletePod('p1');
    await isDetached('a');
  });

  test('after a restart, a pod that was told is not told again', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    const told = async () =>
      (await eventsOf('p1')).filter((reason) => reason === 'SuccessfulAttachVolume').length;
    await until('the event', async () => ((await told()) === 1 ? true : undefined));
    await restart();
    await controller.idle();
    expect((await podCondition('p1'))?.status).toBe('True');
    expect(await told()).toBe(1);
  });

  test('after a restart, what no record has and nobody needs is found and detached', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    await controller.stop();
    await deletePod('p1');
    await client.patch(VOLUMES, 'a', { status: { attachments: null } }, { subresource: 'status' });
    await client.patch(PERSISTENT_VOLUMES, 'a', {
      metadata: { annotations: { [ATTACHED_NODES_ANNOTATION]: null } },
    });
    controller = await startController(noting(client), { executor: nodes });
    await until('there is no loop', async () => (nodes.loopsOn('n1') === 0 ? true : undefined));
  });

  test('idle: no write and no word to a node', async () => {
    await createPod('p1', 'a');
    await isAttached('a');
    await until('the pod is told', async () =>
      (await podCondition('p1'))?.status === 'True' ? true : undefined,
    );
    await controller.idle();
    const { asked } = nodes;
    const before = writes.length;
    await client.patch(PODS, 'p1', { metadata: { labels: { a: 'b' } } }, { namespace: NAMESPACE });
    await controller.idle();
    expect(writes.slice(before)).toEqual([]);
    expect(nodes.asked).toBe(asked);
  });
});

describe('a record that Stowage never wrote', () => {
  /** As whoever may write a status can. */
  const record = (name: string, change: object) =>
    client.patch(VOLUMES, name, { status: { prepared: change } }, { subresource: 'status' });

  test('has no device of another Volume detached, and no other node asked; put right, all goes on', async () => {
    for (const name of ['a', 'b']) {
      await createVolume(name, { attachPolicy: 'OnDemand' });
      await available(name);
      await claim(name);
    }
    await createPod('p-b', 'b');
    await isAttached('b');
    await createNode('n9');
    const { prepared } = (await volumeNow('a')).status ?? {};
    const { paths } = (await volumeNow('b')).status?.prepared ?? {};
    const askedOf = new Set<string>();
    const { observe } = nodes;
    nodes.observe = (node, probes) => {
      askedOf.add(node);
      return observe(node, probes);
    };
    // On the same node, and on one that is any other.
    for (const node of ['n1', 'n9']) {
      await controller.stop();
      await record('a', { paths, node });
      controller = await startController(noting(client), { executor: nodes });
      await until('it is refused', async () =>
        (await volumeNow('a')).status?.phase === 'Failed' ? true : undefined,
      );
      await controller.idle();
    }
    expect(nodes.loopsOn('n1')).toBe(1);
    expect([...askedOf]).not.toContain('n9');
    await createPod('p-a', 'a');
    const condition = await until('the condition', () => podCondition('p-a'));
    expect(condition.message).toContain('which Stowage never wrote there. Nothing is done');
    await until('the event', async () =>
      (await eventsOf('p-a')).includes('FailedAttachVolume') ? true : undefined,
    );
    await record('a', { ...prepared });
    await isAttached('a');
    expect(nodes.loopsOn('n1')).toBe(2);
  });
});
