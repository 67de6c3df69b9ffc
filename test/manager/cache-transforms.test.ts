import { describe, expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import type { ObjectMeta } from '../../src/api/meta.ts';
import { reason, reasonAnnotations } from '../../src/api/reasons.ts';
import { transforms } from '../../src/manager/cache-transforms.ts';
import { droppedSource } from '../../src/model/data-source/dropped-data-source.ts';
import { addressOfNode, minionOfNode } from '../../src/model/node-address.ts';
import { content, note, snapshot, snapshotClass } from '../support/snapshot-objects.ts';
import { pv, storageClass, volume } from '../support/volume-input.ts';

/** Fields that an API server adds, and fields of other writers. */
const more = {
  labels: { a: 'b' },
  managedFields: [{ manager: 'kubectl' }],
  selfLink: '/x',
} as Partial<ObjectMeta>;
const annotations = {
  'kubectl.kubernetes.io/last-applied-configuration': '{}',
  'stowage.dev/address': '10.0.0.1',
  'stowage.dev/port': '2222',
  'stowage.dev/paused': 'true',
  'stowage.dev/forget-node': 'uid',
  'metalk8s.scality.com/force-lvcreate': '',
};
const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...ours } = annotations;

test('a cached Node keeps its labels, known annotations, taints, readiness and boot ID', () => {
  const node: KubeNode = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '7', ...more, annotations },
    spec: {
      taints: [
        { key: 'busy', effect: 'PreferNoSchedule' },
        { key: 'control-plane', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' },
      ],
      ...{ podCIDR: '10.0.0.0/24' },
    },
    status: {
      conditions: [
        { type: 'MemoryPressure', status: 'False', message: 'x' },
        {
          type: 'Ready',
          status: 'True',
          message: 'kubelet is posting ready status',
          lastTransitionTime: 'x',
        },
      ],
      nodeInfo: { bootID: 'b1', ...{ kernelVersion: '6.1' } },
      ...{ images: [{ names: ['x'], sizeBytes: 1 }], capacity: { cpu: '1' } },
    },
  };
  const before = structuredClone(node);
  expect(transforms.nodes(node)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '7', annotations: ours, labels: { a: 'b' } },
    spec: {
      taints: [
        { key: 'control-plane', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' },
      ],
    },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 'x' }],
      nodeInfo: { bootID: 'b1' },
    },
  });
  // The original object is not changed, as its reader continues to use it.
  expect(node).toEqual(before);
  const young: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: {} };
  expect(transforms.nodes(young)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
  });
});

test('a cached Node is reached under the same address, port and minion id', () => {
  const reached = {
    'stowage.dev/address': '10.0.0.1',
    'stowage.dev/port': '2222',
    'stowage.dev/salt-minion': 'n1.example.com',
  };
  const node: KubeNode = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', annotations: reached },
  };
  const cached = transforms.nodes(node);
  expect(addressOfNode(cached)).toEqual({ host: '10.0.0.1', port: 2222 });
  expect(minionOfNode(cached)).toBe('n1.example.com');
});

test('a cached PersistentVolume keeps its owner, size, claim, phase and attached nodes', () => {
  const { metadata, spec, status } = pv('Bound', { deletionTimestamp: 'x', resourceVersion: '7' });
  const claimRef = { namespace: 'ns', name: 'c', uid: 'u' };
  const attached = { 'stowage.dev/attached-nodes': '["n1"]' };
  const whole: PersistentVolume = {
    ...pv('Bound'),
    metadata: {
      ...metadata,
      ...more,
      annotations: { ...attached, 'pv.kubernetes.io/bound-by-controller': 'yes' },
    },
    spec: {
      ...spec,
      local: { path: '/dev/x', fsType: 'ext4' },
      claimRef: {
        ...claimRef,
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        resourceVersion: '1',
      },
      nodeAffinity: { required: {} },
      mountOptions: ['noatime'],
      storageClassName: 'local',
    },
    status: { ...status, message: 'why', ...{ lastPhaseTransitionTime: 'x' } },
  };
  expect(transforms.persistentVolumes(whole)).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { ...metadata, annotations: attached },
    spec: { ...spec, local: { path: '/dev/x' }, claimRef },
    status: { phase: 'Bound', message: 'why' },
  });
  const { status: __, ...fresh } = pv('Pending');
  expect(transforms.persistentVolumes(fresh)).toEqual(fresh);
});

test('a cached storage class keeps its parameters, reclaim policy and unmount timeout', () => {
  const waits = { 'stowage.dev/max-wait-for-unmount': '10m' };
  const whole = {
    ...storageClass,
    metadata: { name: 'local', ...more, annotations: { ...annotations, ...waits } },
    reclaimPolicy: 'Retain',
  };
  expect(transforms.storageClasses(whole)).toEqual({
    ...storageClass,
    metadata: { name: 'local', annotations: { ...ours, ...waits } },
    reclaimPolicy: 'Retain',
  });
  const { parameters: _, mountOptions: __, ...bare } = storageClass;
  expect(transforms.storageClasses(bare)).toEqual(bare);
});

test('a cached Volume drops managed fields and the metadata of other writers', () => {
  const whole = volume({ phase: 'Available' }, { ...more, annotations });
  expect(transforms.volumes(whole)).toEqual(volume({ phase: 'Available' }, { annotations: ours }));
});

test('a cached pod keeps its volumes, node, running containers and attach condition', () => {
  const metadata = {
    name: 'db-0',
    namespace: 'apps',
    uid: 'p1',
    resourceVersion: '9',
    deletionTimestamp: 'x',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' }],
  };
  const told = {
    type: 'stowage.dev/VolumesAttached',
    status: 'False',
    reason: 'VolumesNotAttached',
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      ...more,
      creationTimestamp: 'y',
      annotations: { ...annotations, 'kubernetes.io/config.mirror': 'hash' },
    },
    spec: {
      nodeName: 'n1',
      tolerations: [{ operator: 'Exists' }],
      volumes: [
        { name: 'config', ...{ configMap: { name: 'c' } } },
        { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0', ...{ readOnly: true } } },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
        { name: 'device', hostPath: { path: '/dev/disk/by-uuid/x', type: 'BlockDevice' } },
      ],
      ...{ containers: [{ name: 'db', image: 'db' }] },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }, told],
      containerStatuses: [
        { name: 'db', state: { running: { startedAt: 'x' } }, ...{ image: 'db' } },
        { name: 'side', state: { ...({ terminated: { exitCode: 0 } } as object) } },
      ],
      initContainerStatuses: [{ name: 'init' }],
      ephemeralContainerStatuses: [{ name: 'shell', state: { running: {} } }],
      ...{ podIP: '10.0.0.1' },
    },
  };
  expect(transforms.pods(pod)).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, annotations: { 'kubernetes.io/config.mirror': 'hash' } },
    spec: {
      nodeName: 'n1',
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } },
        { name: 'scratch', ephemeral: {} },
        { name: 'device', hostPath: { path: '/dev/disk/by-uuid/x', type: 'BlockDevice' } },
      ],
    },
    status: {
      phase: 'Running',
      conditions: [told],
      containerStatuses: [{ name: 'db', state: { running: {} } }],
      ephemeralContainerStatuses: [{ name: 'shell', state: { running: {} } }],
    },
  });
  const bare: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'b' },
    spec: {},
  };
  expect(transforms.pods(bare)).toEqual(bare);
  const pending: Pod = { ...bare, spec: { tolerations: [{ operator: 'Exists' }] } };
  expect(transforms.pods(pending)).toEqual(pending);
});

describe('a cached claim', () => {
  const metadata = {
    name: 'db-0-scratch',
    namespace: 'apps',
    uid: 'c1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'p1' }],
    finalizers: ['kubernetes.io/pvc-protection'],
  };
  const selected = { 'volume.kubernetes.io/selected-node': 'n1' };
  const resources = { requests: { storage: '1Gi' } };
  const made = (
    spec: PersistentVolumeClaim['spec'],
    status: NonNullable<PersistentVolumeClaim['status']>,
  ) =>
    transforms.persistentVolumeClaims({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        ...metadata,
        ...more,
        annotations: { ...annotations, ...selected },
        finalizers: ['kubernetes.io/pvc-protection'],
      },
      spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources, ...spec },
      status,
    });
  const kept = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...metadata, annotations: selected, finalizers: ['kubernetes.io/pvc-protection'] },
  };

  test('keeps its owners, volume, request and capacity if bound', () => {
    const status = { phase: 'Bound', capacity: { storage: '1Gi' } } as const;
    expect(made({ volumeName: 'data1', volumeAttributesClassName: 'gold' }, status)).toEqual({
      ...kept,
      spec: { volumeName: 'data1', volumeAttributesClassName: 'gold', resources },
      status,
    });
  });

  test('keeps its owners, class, source, selector and modes if pending', () => {
    const dataSourceRef = {
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshot',
      name: 's',
    };
    const spec = {
      volumeMode: 'Block',
      dataSourceRef,
      selector: { matchLabels: { tier: 'fast' } },
      volumeAttributesClassName: 'gold',
    };
    expect(made(spec, { phase: 'Pending' })).toEqual({
      ...kept,
      spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources, ...spec },
      status: { phase: 'Pending' },
    });
  });
});

test('a cached claim with a dropped data source keeps its manifest until it is bound', () => {
  const spec = { resources: { requests: { storage: '1Gi' } } };
  const dataSourceRef = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
  const lost = (volumeName?: string): PersistentVolumeClaim => {
    const metadata = { name: 'a', namespace: 'b' };
    const applied = JSON.stringify({
      metadata,
      spec: { dataSourceRef: { ...dataSourceRef, namespace: 'c' } },
    });
    return {
      ...{
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        spec: { ...spec, ...(volumeName && { volumeName }) },
      },
      metadata: {
        ...metadata,
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
      },
    };
  };
  expect(transforms.persistentVolumeClaims(lost())).toEqual(lost());
  expect(transforms.persistentVolumeClaims(lost('pvc-1')).metadata.annotations).toBeUndefined();
});

test('cached snapshots, contents and classes drop the metadata of other writers', () => {
  const shot = snapshot({ status: { readyToUse: true }, metadata: { ...more, annotations } });
  expect(transforms.volumeSnapshots(shot)).toEqual(
    snapshot({ status: { readyToUse: true }, metadata: { annotations: ours } }),
  );
  const job = {
    ...content({ note: note() }).metadata.annotations,
    ...reasonAnnotations(reason('NodeSilent', { node: 'n1', seconds: 30 })),
    'stowage.dev/error-time': 't',
  };
  const labels = { 'stowage.dev/snapshot-attempt': '1' };
  const whole = content({
    status: {},
    metadata: { ...more, annotations: { ...annotations, ...job }, labels: { ...labels, a: 'b' } },
  });
  expect(transforms.volumeSnapshotContents(whole)).toEqual(
    content({ status: {}, metadata: { annotations: { ...ours, ...job }, labels } }),
  );
  expect(transforms.volumeSnapshotContents(content({ metadata: { labels: { a: 'b' } } }))).toEqual(
    content(),
  );
  const standard = snapshotClass('fast', { isDefault: true });
  const ofOthers = { ...standard.metadata.annotations, x: 'y' };
  expect(
    transforms.volumeSnapshotClasses({
      ...standard,
      metadata: { ...standard.metadata, ...more, annotations: ofOthers },
    }),
  ).toEqual(standard);
});

const LONG = 'x'.repeat(250_000);
const names = (count: number, of: (index: number) => object | string) =>
  Array.from({ length: count }, (_, n) => of(n));

test.each<[string, object, object]>([
  [
    'the node that was selected',
    { annotations: { 'volume.kubernetes.io/selected-node': LONG } },
    {},
  ],
  ['the claim that it populates', { annotations: { 'stowage.dev/populates': LONG } }, {}],
  [
    'its manifest',
    {
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
          metadata: { name: 'c', namespace: 'ns' },
          spec: { dataSourceRef: { kind: 'K', name: LONG }, pad: LONG },
        }),
      },
    },
    {},
  ],
  ['finalizers', { finalizers: names(4000, (n) => `a.b/${'f'.repeat(50)}${n}`) }, {}],
  [
    'owners',
    {
      ownerReferences: names(2000, (n) => ({
        apiVersion: 'v1',
        kind: LONG,
        name: 'p',
        uid: `${n}`,
      })),
    },
    {},
  ],
  ['its selector', {}, { selector: { matchLabels: { a: LONG } } }],
  [
    'its source',
    {},
    { dataSourceRef: { apiGroup: LONG, kind: LONG, name: LONG, namespace: LONG } },
  ],
  ['its modes', {}, { accessModes: names(50_000, () => 'ReadWriteOnce') }],
  ['other requests', {}, { resources: { requests: { storage: '1Gi', [LONG]: '1' } } }],
  ['its volume', {}, { volumeName: LONG }],
])('a cached claim stays small despite a large field: %s', (_what, metadata, spec) => {
  const claim = {
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    ...{ metadata: { name: 'c', namespace: 'ns', ...metadata }, spec },
  } as PersistentVolumeClaim;
  expect(JSON.stringify(transforms.persistentVolumeClaims(claim)).length).toBeLessThan(8000);
});

test('a cached claim keeps an empty selector for a large one, and its dropped data source', () => {
  const text = JSON.stringify({
    metadata: { name: 'c', namespace: 'ns' },
    spec: { dataSourceRef: { kind: 'VolumeSnapshot', name: 's', namespace: 'prod' }, pad: LONG },
  });
  const kept = transforms.persistentVolumeClaims({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
    metadata: {
      ...{ name: 'c', namespace: 'ns' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text },
    },
    spec: { selector: { matchLabels: { a: LONG } } },
  } as PersistentVolumeClaim);
  expect(kept.spec.selector).toEqual({});
  expect(droppedSource(kept)).toEqual({ kind: 'VolumeSnapshot', name: 's', namespace: 'prod' });
});

test('a cached pod stays small despite many tolerations and large volumes', () => {
  const kept = transforms.pods({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'ns' } },
    spec: {
      tolerations: names(2000, (n) => ({ key: `k${n}`, value: 'v'.repeat(60) })),
      volumes: names(2000, (n) => ({ name: `${n}`, persistentVolumeClaim: { claimName: LONG } })),
    },
  } as unknown as Pod);
  expect(JSON.stringify(kept).length).toBeLessThan(100_000);
});

test('a cached PersistentVolume keeps all attached nodes and all finalizers', () => {
  const nodes = JSON.stringify(names(500, (n) => `node-${n}`));
  const finalizers = names(40, (n) => `a.b/${n}`) as string[];
  const kept = transforms.persistentVolumes({
    ...pv('Bound'),
    metadata: { name: 'pv', finalizers, annotations: { 'stowage.dev/attached-nodes': nodes } },
  });
  expect(kept.metadata).toMatchObject({
    finalizers,
    annotations: { 'stowage.dev/attached-nodes': nodes },
  });
});

test.each<[string, string[]]>([
  ['many entries', names(40, (n) => `a.b/${n}`) as string[]],
  ['a long entry', ['kubernetes.io/pvc-protection', `a.b/${LONG}`]],
])('a cached list of finalizers with %s ends with … if truncated', (_what, finalizers) => {
  const metadata = { name: 'c', namespace: 'ns', finalizers };
  const kept = transforms.persistentVolumeClaims({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {},
  });
  expect(kept.metadata.finalizers?.at(-1)).toBe('…');
  expect(finalizers).toEqual(expect.arrayContaining(kept.metadata.finalizers?.slice(0, -1) ?? []));
});

test('a cached claim keeps its storage request and limit', () => {
  const resources = { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } };
  const metadata = { name: 'c', namespace: 'ns' };
  const kept = transforms.persistentVolumeClaims({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: { resources },
  });
  expect(kept.spec.resources).toEqual(resources);
});
