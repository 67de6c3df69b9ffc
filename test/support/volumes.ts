import type { PersistentVolume, StorageClass } from '../../src/api/core.ts';
import { VOLUME_API_VERSION } from '../../src/api/names.ts';
import type { Condition, Volume, VolumeStatus } from '../../src/api/volume.ts';

export const volumeNamed = (name: string, status?: VolumeStatus): Volume => ({
  apiVersion: VOLUME_API_VERSION,
  kind: 'Volume',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2029-12-31T19:00:00Z' },
  spec: { nodeName: 'n1', storageClassName: 'fast', sparseLoopDevice: { size: '1Gi' } },
  ...(status && { status }),
});

export const ready = (status: Condition['status'], reason: string, message = ''): VolumeStatus => ({
  conditions: [{ type: 'Ready', status, reason, message }],
});

/** Returns the node affinity of a PersistentVolume on a node. */
export const onNode = (node: string) => ({
  required: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
    ],
  },
});

export const pvOf = (
  volume: Volume,
  phase?: NonNullable<PersistentVolume['status']>['phase'],
): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: {
    name: volume.metadata.name,
    ownerReferences: [
      {
        apiVersion: VOLUME_API_VERSION,
        kind: 'Volume',
        name: volume.metadata.name,
        uid: volume.metadata.uid ?? '',
      },
    ],
  },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    ...(phase === 'Bound' && { claimRef: { namespace: 'db', name: 'data-0' } }),
  },
  ...(phase && { status: { phase } }),
});

export const classNamed = (
  name: string,
  parts: Partial<StorageClass> = {},
  annotations?: Record<string, string>,
): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, ...(annotations && { annotations }) },
  provisioner: 'kubernetes.io/no-provisioner',
  ...parts,
});
