import { expect, test } from '@jest/globals';
import type { KubeNode, PersistentVolume } from '../../src/api/core.ts';
import type { ObjectMeta } from '../../src/api/meta.ts';
import { keepNode, keepOwn, keepPersistentVolume, keepStorageClass } from '../../src/daemon/kept-fields.ts';
import { pv, storageClass, volume } from '../support/volume-input.ts';

/** What an API server adds, and what others write. */
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

test('of a Node: where it is reached, whether it is paused, whether it is Ready, its boot', () => {
  const node: KubeNode = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '7', ...more, annotations },
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
  expect(keepNode(node)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', uid: 'u', resourceVersion: '7', annotations: ours },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'b1' } },
  });
  // Who read it goes on with it.
  expect(node).toEqual(before);
  const young: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: {} };
  expect(keepNode(young)).toEqual({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
});

test('of a PersistentVolume: whose it is, its size, its claim and its phase', () => {
  const { metadata, spec, status } = pv('Bound', { deletionTimestamp: 'x', resourceVersion: '7' });
  const claimRef = { namespace: 'ns', name: 'c' };
  const whole: PersistentVolume = {
    ...pv('Bound'),
    metadata: { ...metadata, ...more, annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
    spec: {
      ...spec,
      local: { path: '/dev/x', fsType: 'ext4' },
      claimRef: {
        ...claimRef,
        uid: 'u',
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
  expect(keepPersistentVolume(whole)).toEqual({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata,
    spec: { ...spec, local: { path: '/dev/x' }, claimRef },
    status: { phase: 'Bound', message: 'why' },
  });
  const { status: __, ...fresh } = pv('Pending');
  expect(keepPersistentVolume(fresh)).toEqual(fresh);
});

test('of a storage class: the file system and the mount options', () => {
  const whole = {
    ...storageClass,
    metadata: { name: 'local', ...more, annotations },
    reclaimPolicy: 'Retain',
  };
  expect(keepStorageClass(whole)).toEqual({
    ...storageClass,
    metadata: { name: 'local', annotations: ours },
  });
  const { parameters: _, mountOptions: __, ...bare } = storageClass;
  expect(keepStorageClass(bare)).toEqual(bare);
});

test('of a Volume: all but what others wrote beside it', () => {
  const whole = volume({ phase: 'Available' }, { ...more, annotations });
  expect(keepOwn(whole)).toEqual(volume({ phase: 'Available' }, { annotations: ours }));
});
