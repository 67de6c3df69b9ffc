import type {
  DataSourceReference,
  PersistentVolume,
  PersistentVolumeClaim,
} from '../../src/api/core.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { DRIVER, SNAPSHOT_GROUP, VOLUME_API_VERSION } from '../../src/api/names.ts';
import type { VolumePopulator } from '../../src/api/populator.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from '../../src/api/snapshot.ts';

/**
 * Objects of the story of KEP-3294: prod/foo-backup, and the claim test/foo-testing with that data
 * source.
 */

export const grantNamed = (name: string, spec: object, metadata: object = {}): ReferenceGrant => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'ReferenceGrant',
  metadata: { name, namespace: 'prod', ...metadata },
  spec: spec as ReferenceGrant['spec'],
});

export const FROM_CLAIMS = { group: '', kind: 'PersistentVolumeClaim', namespace: 'test' };
export const FROM_LINKS = { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink', namespace: 'test' };
export const TO_BACKUP = { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', name: 'foo-backup' };

export const SNAPSHOT: VolumeSnapshot = {
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: {
    name: 'foo-backup',
    namespace: 'prod',
    uid: 'uid-snapshot',
    creationTimestamp: '2029-12-31T23:00:00Z',
  },
  spec: { source: { persistentVolumeClaimName: 'foo' } },
  status: {
    boundVolumeSnapshotContentName: 'snapcontent-uid-snapshot',
    readyToUse: true,
    restoreSize: '1Gi',
    creationTime: '2029-12-31T23:00:05Z',
  },
};

export const CONTENT: VolumeSnapshotContent = {
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name: 'snapcontent-uid-snapshot', uid: 'uid-content' },
  spec: {
    volumeSnapshotRef: { namespace: 'prod', name: 'foo-backup', uid: 'uid-snapshot' },
    deletionPolicy: 'Delete',
    driver: DRIVER,
    source: { volumeHandle: 'pvc-1' },
    sourceVolumeMode: 'Filesystem',
  },
  status: { snapshotHandle: 'file:n1:/data/snapshots/x', restoreSize: 2 ** 30, readyToUse: true },
};

export const claimNamed = (
  name: string,
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  namespace = 'test',
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace, uid: `uid-${name}`, creationTimestamp: '2029-12-31T23:30:00Z' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    volumeMode: 'Filesystem',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
  status: { phase: 'Pending' },
});

export const TO_SNAPSHOT: DataSourceReference = {
  apiGroup: SNAPSHOT_GROUP,
  kind: 'VolumeSnapshot',
  name: 'foo-backup',
  namespace: 'prod',
};

export const TO_LINK: DataSourceReference = {
  apiGroup: SNAPSHOT_GROUP,
  kind: 'VolumeSnapshotLink',
  name: 'foo-link',
};

export const LINK: VolumeSnapshotLink = {
  apiVersion: 'snapshot.storage.k8s.io/v1alpha1',
  kind: 'VolumeSnapshotLink',
  metadata: { name: 'foo-link', namespace: 'test', uid: 'uid-link' },
  spec: { source: { name: 'foo-backup', namespace: 'prod' } },
};

/** Populator without which links are not resolved. */
export const LINK_POPULATOR: VolumePopulator = {
  apiVersion: 'populator.storage.k8s.io/v1beta1',
  kind: 'VolumePopulator',
  metadata: { name: 'volumesnapshotlink' },
  sourceKind: { group: SNAPSHOT_GROUP, kind: 'VolumeSnapshotLink' },
};

/** Returns a bound claim and the PersistentVolume that a Volume owns. */
export function boundClaim(
  name: string,
  namespace: string,
  size = '1Gi',
): { claim: PersistentVolumeClaim; pv: PersistentVolume } {
  const pending = claimNamed(name, { volumeName: `pvc-${name}` }, namespace);
  const claim = { ...pending, status: { phase: 'Bound' as const, capacity: { storage: size } } };
  const pv: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pvc-${name}`,
      ownerReferences: [
        { apiVersion: VOLUME_API_VERSION, kind: 'Volume', name: `pvc-${name}`, uid: 'u' },
      ],
    },
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace, name, uid: `uid-${name}` },
    },
    status: { phase: 'Bound' },
  };
  return { claim, pv };
}

/** Returns an object as a user creates it, without the fields that a server writes. */
export const fresh = <T extends KubeObject>({ metadata: { name, namespace }, ...object }: T): T =>
  ({
    ...object,
    status: undefined,
    metadata: { name, ...(namespace && { namespace }) },
  }) as unknown as T;
