import type {
  KubeEvent,
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { DRIVER } from '../../src/api/names.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOTS,
} from '../../src/api/resources.ts';
import type { VolumeSnapshot } from '../../src/api/snapshot.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { until } from './until.ts';

/** Namespace and name of an object: `prod/foo`. */
export type Id = `${string}/${string}`;

const split = (id: Id): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = id.split('/');
  return { namespace, name };
};

export interface ClaimDefaults {
  storageClassName: string;
  /** Kubernetes quantity. */
  size: string;
  /** Limit of each wait, in ms. */
  withinMs?: number;
}

/** Creates and observes claims of any cluster, and their data sources. */
export function claimsOf(client: KubeClient, { storageClassName, size, withinMs }: ClaimDefaults) {
  const create = (id: Id, spec: Partial<PersistentVolumeClaim['spec']> = {}) => {
    const { namespace, name } = split(id);
    return client.create<PersistentVolumeClaim>(
      PERSISTENT_VOLUME_CLAIMS,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName,
          resources: { requests: { storage: size } },
          ...spec,
        },
      },
      { namespace },
    );
  };

  const get = (id: Id): Promise<PersistentVolumeClaim> => read(PERSISTENT_VOLUME_CLAIMS, id);

  function read<T extends KubeObject>(resource: Resource, id: Id): Promise<T> {
    const { namespace, name } = split(id);
    return client.get<T>(resource, name, { namespace });
  }

  async function remove(resource: Resource, id: Id): Promise<void> {
    const { namespace, name } = split(id);
    await client.delete(resource, name, { namespace });
  }

  const eventsOf = async (id: Id): Promise<string[]> => {
    const { namespace, name } = split(id);
    return (await client.list<KubeEvent>(EVENTS, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`);
  };

  return {
    create,
    get,
    eventsOf,
    remove: (id: Id) => remove(PERSISTENT_VOLUME_CLAIMS, id),
    removeSnapshot: (id: Id) => remove(VOLUME_SNAPSHOTS, id),
    snapshot: (id: Id): Promise<VolumeSnapshot> => read(VOLUME_SNAPSHOTS, id),

    /** Creates a snapshot of a claim of the same namespace. */
    createSnapshot(id: Id, persistentVolumeClaimName: string, volumeSnapshotClassName?: string) {
      const { namespace, name } = split(id);
      const spec = {
        source: { persistentVolumeClaimName },
        ...(volumeSnapshotClassName !== undefined && { volumeSnapshotClassName }),
      };
      return client.create<VolumeSnapshot>(
        VOLUME_SNAPSHOTS,
        {
          apiVersion: 'snapshot.storage.k8s.io/v1',
          kind: 'VolumeSnapshot',
          metadata: { name },
          spec,
        },
        { namespace },
      );
    },

    isReady: (id: Id): Promise<VolumeSnapshot> =>
      until(
        `VolumeSnapshot ${id} is ready`,
        async () => {
          const snapshot = await read<VolumeSnapshot>(VOLUME_SNAPSHOTS, id);
          return snapshot.status?.readyToUse ? snapshot : undefined;
        },
        withinMs,
      ),

    /** @returns the PersistentVolume of the claim */
    isBound: (id: Id): Promise<PersistentVolume> =>
      until(
        `claim ${id} is bound`,
        async () => {
          const { status, spec } = await get(id);
          if (status?.phase !== 'Bound') return undefined;
          return client.get<PersistentVolume>(PERSISTENT_VOLUMES, spec.volumeName ?? '');
        },
        withinMs,
      ),

    /** Waits for such an event. */
    isTold: (id: Id, text: string): Promise<true> =>
      until(
        `${id} is told: ${text}`,
        async () => ((await eventsOf(id)).some((each) => each.includes(text)) ? true : undefined),
        withinMs,
      ),

    isGone: (resource: Resource, id: Id): Promise<true> =>
      until(
        `${resource.kind} ${id} is gone`,
        () =>
          read(resource, id).then(
            () => undefined,
            (error: unknown) => (isNotFound(error) ? true : Promise.reject(error)),
          ),
        withinMs,
      ),
  };
}

/** Returns a storage class that provisions file-backed volumes immediately. */
export const dynamicClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
  ...{
    provisioner: DRIVER,
    parameters: { fsType: 'ext4' },
    volumeBindingMode: 'Immediate',
    ...more,
  },
});

/** Creates a storage class with files in that directory. */
export const createClass = (
  client: KubeClient,
  name: string,
  directory: string,
  fsType: string,
  more: Partial<StorageClass> = {},
) =>
  client.create<StorageClass>(
    STORAGE_CLASSES,
    dynamicClass(name, { parameters: { directory, fsType }, ...more }),
  );

/** Creates a VolumeSnapshotClass; the class with policy Delete is the default. */
export const createSnapshotClass = (
  client: KubeClient,
  name: string,
  deletionPolicy: 'Delete' | 'Retain' = 'Delete',
) =>
  client.create(VOLUME_SNAPSHOT_CLASSES, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: {
      name,
      ...(deletionPolicy === 'Delete' && {
        annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
      }),
    },
    driver: DRIVER,
    deletionPolicy,
  } as KubeObject);

/** Creates a Ready Node without a kubelet. */
export async function createNode(client: KubeClient, name: string): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name };
  await client.create<KubeNode>(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
  });
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await client.patch(NODES, name, { status }, { subresource: 'status' });
}
