import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CsiDriver, CsiStorageCapacity } from '../../src/api/core.ts';
import type { StoredClaim, Volume } from '../../src/sandbox/controllers/fit.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type Client, clientFor } from '../api-server/client.ts';
import { MERGE } from '../api-server/disks.ts';
import { standIns } from '../support/sandbox/components.ts';
import { place, type UnscheduledPod, type View } from '../support/sandbox/place.ts';
import { until } from '../support/until.ts';
import { onNode } from '../support/volumes.ts';

const node = (name: string, spec: object = {}, ready = 'True') => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec,
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const claim = (name: string, storageClassName = 'static', more: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      resources: { requests: { storage: '5Gi' } },
      storageClassName,
    },
    ...more,
  }) as StoredClaim;
const volume = (name: string, on: string, spec: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      storageClassName: 'static',
      local: { path: '/dev/x' },
      nodeAffinity: onNode(on),
      ...spec,
    },
  }) as Volume;
const pod = (claims: string[], spec: object = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: {
      containers: [{ name: 'a', image: 'x' }],
      volumes: claims.map((claimName) => ({
        name: claimName,
        persistentVolumeClaim: { claimName },
      })),
      ...spec,
    },
  }) as UnscheduledPod;

const CLASSES: Record<string, object> = {
  static: {
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  dynamic: { provisioner: 'volume.stowage.dev', volumeBindingMode: 'WaitForFirstConsumer' },
  immediate: { provisioner: 'volume.stowage.dev', volumeBindingMode: 'Immediate' },
  somewhere: {
    provisioner: 'volume.stowage.dev',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [
      { matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['n2', 'n3'] }] },
    ],
  },
};
/** A driver that publishes capacities. Other drivers publish none. */
const DRIVER = 'volume.stowage.dev';
const room = (on: string, capacity: string, more: object = {}) =>
  ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: { name: `${on}-${capacity.toLowerCase()}` },
    storageClassName: 'dynamic',
    nodeTopology: { matchLabels: { 'kubernetes.io/hostname': on } },
    capacity,
    ...more,
  }) as CsiStorageCapacity;
const driver = (storageCapacity: boolean) =>
  ({ metadata: { name: DRIVER }, spec: { storageCapacity } }) as CsiDriver;

const view = (parts: {
  nodes?: View['nodes'];
  volumes?: Volume[];
  claims?: StoredClaim[];
  storageCapacity?: boolean;
  capacities?: CsiStorageCapacity[];
  givenBack?: string[];
}): View => ({
  nodes: parts.nodes ?? [node('n1'), node('n2')],
  volumes: parts.volumes ?? [],
  claim: (name) => parts.claims?.find(({ metadata }) => metadata.name === name),
  storageClass: (name) => CLASSES[name],
  driver: (name) =>
    parts.storageCapacity === undefined || name !== DRIVER
      ? undefined
      : driver(parts.storageCapacity),
  capacities: parts.capacities ?? [],
  givenBack: () => new Set(parts.givenBack),
});
const selected = (name: string) => ({
  metadata: {
    name: 'a',
    namespace: 'default',
    annotations: { 'volume.kubernetes.io/selected-node': name },
  },
});
const bound = (volumeName: string) => {
  const { spec, ...rest } = claim('a');
  return { ...rest, spec: { ...spec, volumeName }, status: { phase: 'Bound' } } as StoredClaim;
};
/** Returns the node, and the required steps of each claim. */
const shown = (placement: ReturnType<typeof place>) =>
  'reason' in placement
    ? placement.reason
    : [
        placement.node,
        ...placement.before.map((one) =>
          'reserve' in one
            ? `reserve ${one.reserve.metadata.name}`
            : 'select' in one
              ? 'select'
              : 'wait',
        ),
      ].join(', ');

describe('a pod is scheduled', () => {
  test.each<[string, UnscheduledPod, Parameters<typeof view>[0], string]>([
    ['to the first node', pod([]), {}, 'n1'],
    [
      'to no node if there are no nodes',
      pod([]),
      { nodes: [] },
      'no nodes available to schedule pods',
    ],
    [
      'to the first node that is ready',
      pod([]),
      { nodes: [node('n1', {}, 'Unknown'), node('n2')] },
      'n2',
    ],
    [
      'to no cordoned or tainted node',
      pod([]),
      {
        nodes: [
          node('n1', { unschedulable: true }),
          node('n2', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }),
        ],
      },
      '0/2 nodes are available: 1 node(s) had untolerated taint {k: v}, 1 node(s) were unschedulable.',
    ],
    [
      'to a node whose taint it tolerates',
      pod([], { tolerations: [{ key: 'k', operator: 'Exists' }] }),
      { nodes: [node('n1', { taints: [{ key: 'k', effect: 'NoSchedule' }] })] },
      'n1',
    ],
    [
      'to a node that its selector matches',
      pod([], { nodeSelector: { 'kubernetes.io/hostname': 'n2' } }),
      {},
      'n2',
    ],
    ['to no node without its claim', pod(['a']), {}, 'persistentvolumeclaim "a" not found'],
    [
      'to no node before its claim of an Immediate class is bound',
      pod(['a']),
      { claims: [claim('a', 'immediate')] },
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'to the node of its volume',
      pod(['a']),
      { claims: [bound('v')], volumes: [volume('v', 'n2')] },
      'n2',
    ],
    [
      'to no node if its volume is on a missing node',
      pod(['a']),
      { claims: [bound('v')], volumes: [volume('v', 'n3')] },
      '0/2 nodes are available: 2 node(s) had volume node affinity conflict.',
    ],
    [
      'to the node of the smallest volume',
      pod(['a']),
      {
        claims: [claim('a')],
        volumes: [volume('large', 'n2', { capacity: { storage: '20Gi' } }), volume('v', 'n2')],
      },
      'n2, reserve v',
    ],
    [
      'to a node with volumes for all of its claims',
      pod(['a', 'b']),
      {
        claims: [claim('a'), claim('b')],
        volumes: [volume('v1', 'n1'), volume('v2', 'n2'), volume('v3', 'n2')],
      },
      'n2, reserve v2, reserve v3',
    ],
    [
      'once its reserved volume is bound',
      pod(['a']),
      {
        claims: [claim('a')],
        volumes: [
          volume('v', 'n2', { claimRef: { namespace: 'default', name: 'a', uid: 'uid-a' } }),
        ],
      },
      'n2, wait',
    ],
    [
      'to no node without a volume of the static class',
      pod(['a']),
      { claims: [claim('a')] },
      "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
    ],
    ['to a node that can provision', pod(['a']), { claims: [claim('a', 'dynamic')] }, 'n1, select'],
    [
      'to the node that provisions its volume',
      pod(['a']),
      { claims: [claim('a', 'dynamic', selected('n2'))] },
      'n2, wait',
    ],
    [
      'to a node in the topology of its class',
      pod(['a']),
      { claims: [claim('a', 'somewhere')] },
      'n2, select',
    ],
    [
      'to a node with enough capacity',
      pod(['a']),
      {
        claims: [claim('a', 'dynamic')],
        storageCapacity: true,
        capacities: [room('n1', '4Gi'), room('n2', '5Gi')],
      },
      'n2, select',
    ],
    [
      'to no node without capacity for its class and size',
      pod(['a']),
      {
        claims: [claim('a', 'dynamic')],
        storageCapacity: true,
        capacities: [
          room('n1', '10Gi', { storageClassName: 'other' }),
          room('n1', '10Gi', { maximumVolumeSize: '4Gi' }),
          room('n1', '10Gi', { nodeTopology: undefined }),
          room('n1', '10Gi', { capacity: undefined }),
          room('n2', '4Gi', {}),
        ],
      },
      '0/2 nodes are available: 2 node(s) did not have enough free storage.',
    ],
    [
      'to any node if the driver publishes no capacity',
      pod(['a']),
      { claims: [claim('a', 'dynamic')], storageCapacity: false },
      'n1, select',
    ],
    [
      'to the node that provisions its volume, even without more capacity',
      pod(['a']),
      { claims: [claim('a', 'dynamic', selected('n2'))], storageCapacity: true },
      'n2, wait',
    ],
    [
      'to no node that the provisioner rejected',
      pod(['a']),
      { claims: [claim('a', 'dynamic')], givenBack: ['n1'] },
      'n2, select',
    ],
    [
      'to no node if the provisioner rejected all',
      pod(['a']),
      { claims: [claim('a', 'dynamic')], givenBack: ['n1', 'n2'] },
      '0/2 nodes are available: 2 node(s) were given back by the provisioner.',
    ],
    [
      'to no node if it has an affinity',
      pod([], { affinity: {} }),
      {},
      "the sandbox's scheduler knows neither affinity nor ephemeral volumes",
    ],
  ])('%s', (_, given, parts, expected) => expect(shown(place(given, view(parts)))).toBe(expected));
});

describe('the scheduler of a sandbox', () => {
  const NODES = '/api/v1/nodes';
  const PODS = '/api/v1/namespaces/default/pods';
  const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
  let sandbox: Sandbox;
  let client: Client;
  const start = async (scheduler: boolean) => {
    sandbox = await startSandbox({ crds: [], ...standIns({ scheduler }) });
    client = clientFor(sandbox);
    for (const [name, parts] of Object.entries(CLASSES))
      await post('/apis/storage.k8s.io/v1/storageclasses', { metadata: { name }, ...parts });
  };
  beforeEach(() => start(true));
  afterEach(async () => {
    await client.close();
    await sandbox.stop();
  });
  const post = async (path: string, body: object) =>
    expect((await client.request('POST', path, body)).code).toBe(201);
  const get = async (path: string) => (await client.request('GET', path)).body;
  const nodeOf = (name: string) =>
    until(`${name} has a node`, async () => (await get(`${PODS}/${name}`)).spec.nodeName as string);

  test('a pod gets its node together with its volume', async () => {
    await post('/api/v1/persistentvolumes', volume('v', 'n2'));
    await post(CLAIMS, claim('a'));
    await post(PODS, pod(['a']));
    await post(NODES, node('n1'));
    const waiting = await until(
      'the pod has a condition',
      async () => (await get(`${PODS}/p`)).status.conditions?.[0],
    );
    expect(waiting).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
    });
    await post(NODES, node('n2'));
    expect(await nodeOf('p')).toBe('n2');
    expect((await get(`${CLAIMS}/a`)).status.phase).toBe('Bound');
    expect((await get(`${PODS}/p`)).status).toMatchObject({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True' }],
    });
  });

  test('a claim of a dynamic class gets its node first, and the pod once it is bound', async () => {
    await post(NODES, node('n1'));
    await post(CLAIMS, claim('a', 'dynamic'));
    await post(PODS, pod(['a']));
    const annotation = await until(
      'a node is selected',
      async () =>
        (await get(`${CLAIMS}/a`)).metadata.annotations?.['volume.kubernetes.io/selected-node'],
    );
    expect([annotation, (await get(`${PODS}/p`)).spec.nodeName]).toEqual(['n1', undefined]);
    const { uid } = (await get(`${CLAIMS}/a`)).metadata;
    const claimRef = { namespace: 'default', name: 'a', uid };
    await post(
      '/api/v1/persistentvolumes',
      volume('made', 'n1', { storageClassName: 'dynamic', claimRef }),
    );
    expect(await nodeOf('p')).toBe('n1');
  });

  test('a node that the provisioner rejected is not selected until capacity changes', async () => {
    const selected = async () =>
      (await get(`${CLAIMS}/a`)).metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const selects = (name: string) =>
      until(`${name} is selected`, async () => (await selected()) === name || undefined);
    const giveBack = async () => {
      const annotations = { 'volume.kubernetes.io/selected-node': null };
      const patch = { metadata: { annotations } };
      expect((await client.request('PATCH', `${CLAIMS}/a`, patch, MERGE)).code).toBe(200);
    };
    await post(NODES, node('n1'));
    await post(NODES, node('n2'));
    await post('/apis/storage.k8s.io/v1/csidrivers', driver(true));
    const capacities = '/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities';
    await post(capacities, room('n1', '5Gi'));
    await post(capacities, room('n2', '4Gi'));
    await post(CLAIMS, claim('a', 'dynamic'));
    await post(PODS, pod(['a']));
    await selects('n1');
    await giveBack();
    const waiting = await until('the condition has a message', async () => {
      const [condition] = (await get(`${PODS}/p`)).status.conditions ?? [];
      return condition?.message as string | undefined;
    });
    expect([waiting, await selected()]).toEqual([
      '0/2 nodes are available: 1 node(s) did not have enough free storage, 1 node(s) were given back by the provisioner.',
      undefined,
    ]);
    await client.request('PATCH', `${capacities}/n2-4gi`, { capacity: '6Gi' }, MERGE);
    await selects('n1');
    await giveBack();
    await selects('n2');
  });

  test('schedules no pod unless it is enabled', async () => {
    await client.close();
    await sandbox.stop();
    await start(false);
    await post(NODES, node('n1'));
    await post(PODS, pod([]));
    await post(PODS, { ...pod([]), metadata: { name: 'q' } });
    expect((await get(`${PODS}/p`)).spec.nodeName).toBeUndefined();
  });
});
