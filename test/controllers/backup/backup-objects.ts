import type { Backup } from '../../../src/api/builtins/backup.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../../../src/api/snapshot.ts';

/** A Backup of a claim to a path, and its snapshot on n1. */

export const UID = '5f3a8c52-0c9e-4c36-a1cf-0f3f6f6f1a01';
export const COPY = '7f8f7c35-5bb2-4f6a-9b53-0d51a0c9a102';
export const PATH = `/data/snapshots/${COPY}`;

export const backup = (
  { status, ...spec }: Partial<Backup['spec']> & { status?: Backup['status'] } = {},
  metadata: Partial<Backup['metadata']> = {},
): Backup => ({
  ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'Backup' },
  metadata: {
    ...{ name: 'b', namespace: 'prod', uid: UID, finalizers: ['stowage.dev/backup-protection'] },
    ...metadata,
  },
  spec: { claimName: 'data', to: { path: '/archives/b.zst' }, ...spec },
  ...(status === undefined ? {} : { status }),
});

export const snapshot = (more: Partial<VolumeSnapshot> = {}): VolumeSnapshot => ({
  ...{ apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot' },
  metadata: {
    ...{ name: `backup-${UID}`, namespace: 'prod', uid: 's' },
    ownerReferences: [{ apiVersion: 'stowage.dev/v1alpha1', kind: 'Backup', name: 'b', uid: UID }],
  },
  spec: { source: { persistentVolumeClaimName: 'data' } },
  status: { readyToUse: true },
  ...more,
});

export const content = (
  more: Partial<VolumeSnapshotContent['spec']> = {},
  handle = `file:n1:${PATH}`,
) =>
  ({
    ...{
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotContent',
      metadata: { name: 'c' },
    },
    spec: {
      volumeSnapshotRef: { namespace: 'prod', name: `backup-${UID}`, uid: 's' },
      ...{
        deletionPolicy: 'Delete',
        driver: 'volume.stowage.dev',
        source: { volumeHandle: 'v' },
        ...more,
      },
    },
    status: { snapshotHandle: handle, restoreSize: 1024, readyToUse: true },
  }) as VolumeSnapshotContent;
