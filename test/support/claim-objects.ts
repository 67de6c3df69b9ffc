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

/** Of an object in a namespace: `prod/foo`. */
export type Id = `${string}/${string}`;

const split = (id: Id): { namespace: string; name: string } => {
  const [namespace = '', name = ''] = id.split('/');
  return { namespace, name };
};

export interface ClaimDefaults {
  storageClassName: string;
  /** A quantity. */
  size: string;
  /** The limit of each wait, in ms. */
  withinMs?: number;
}

/** Claims of a cluster, whichever it is, and what they are made from. */
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

    /** A snapshot of a claim of its namespace. */
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

    /** @returns its PersistentVolume */
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

    /** By an event. */
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

/** A class of files that volumes are provisioned of at once. */
export const dynamicClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name } },
  ...{
    provisioner: DRIVER,
    parameters: { fsType: 'ext4' },
    volumeBindingMode: 'Immediate',
    ...more,
  },
});

/** A dynamic class of files in a folder. */
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

/** A class of snapshots; that of policy Delete is the default. */
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

/** A Node that is Ready, without a kubelet. */
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
