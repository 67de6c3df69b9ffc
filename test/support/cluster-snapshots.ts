import type { KubeEvent, PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type {
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { sparseVolume } from './cluster.ts';
import { AS_SOURCE, OF_CLAIM } from './snapshot-objects.ts';
import { until } from './until.ts';

export const NAMESPACE = 'default';

/** Returns the name of the content of a snapshot. */
export const contentOf = ({ metadata }: VolumeSnapshot) => `snapcontent-${metadata.uid}`;

/** Creates sources of snapshots on the node n1, and observes the snapshots. */
export function clusterSnapshots(client: KubeClient) {
  const find = async <T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace?: string,
  ): Promise<T | undefined> => {
    try {
      return await client.get<T>(resource, name, { namespace });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  const snapshot = (name: string) => find<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, NAMESPACE);
  const content = (name: string) => find<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, name);
  const contents = async () =>
    (await client.list<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, {})).items;
  const claim = (name: string) =>
    find<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE);

  /** Creates a provisioned Volume on n1. */
  const createVolume = async (
    name: string,
    spec: Partial<Volume['spec']> = {},
  ): Promise<Volume> => {
    const wanted = sparseVolume(name, 'n1', '1Gi');
    const { metadata } = await client.create<Volume>(VOLUMES, {
      ...wanted,
      spec: { ...wanted.spec, ...spec },
    });
    return spec.source === undefined
      ? makeVolume(metadata.name)
      : client.get(VOLUMES, metadata.name);
  };
  const makeVolume = async (name: string): Promise<Volume> => {
    const { metadata } = await client.get<Volume>(VOLUMES, name);
    const paths = [`/var/lib/metalk8s/storage/sparse/${metadata.uid}`];
    const status = { phase: 'Available', prepared: { node: 'n1', paths, identity: '1:2' } };
    return client.patch<Volume>(VOLUMES, name, { status }, { subresource: 'status' });
  };

  const createClaim = (name: string, spec: object = {}): Promise<PersistentVolumeClaim> =>
    client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        volumeName: name,
        storageClassName: 'local',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        ...spec,
      },
    } as PersistentVolumeClaim);

  /** Creates a PersistentVolume for the existing Volume and claim of that name. */
  const createPv = async (name: string): Promise<void> => {
    const [owner, wanted] = [await client.get<Volume>(VOLUMES, name), await claim(name)];
    await client.create<PersistentVolume>(PERSISTENT_VOLUMES, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {
        name,
        ownerReferences: [
          { apiVersion: owner.apiVersion, kind: 'Volume', name, uid: owner.metadata.uid ?? '' },
        ],
      },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'local',
        local: { path: `/dev/disk/by-uuid/${owner.metadata.uid}` },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] },
                ],
              },
            ],
          },
        },
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: NAMESPACE,
          name,
          ...(wanted?.metadata.uid !== undefined && { uid: wanted.metadata.uid }),
        },
      },
    });
  };

  /** Creates a Volume and a bound claim, both with that name. */
  const createData = async (name: string): Promise<void> => {
    await createVolume(name);
    await createClaim(name);
    await createPv(name);
  };

  const createClass = (
    name: string,
    { policy = 'Delete' as 'Delete' | 'Retain', isDefault = false, parameters = {} } = {},
  ): Promise<VolumeSnapshotClass> =>
    client.create<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: {
        name,
        ...(isDefault && {
          annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
        }),
      },
      driver: 'volume.stowage.dev',
      deletionPolicy: policy,
      parameters,
    });

  const createSnapshot = (name: string, of: string, className?: string): Promise<VolumeSnapshot> =>
    client.create<VolumeSnapshot>(VOLUME_SNAPSHOTS, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        source: { persistentVolumeClaimName: of },
        ...(className !== undefined && { volumeSnapshotClassName: className }),
      },
    });

  const remove = (resource: Resource, name: string) =>
    client.delete(resource, name, resource.namespaced ? { namespace: NAMESPACE } : {});

  /**
   * Creates a class, a claim with a volume, and a snapshot of the claim, which may not be ready.
   * @returns the snapshot
   */
  const ask = async (
    name = 'backup',
    policy: 'Delete' | 'Retain' = 'Delete',
  ): Promise<VolumeSnapshot> => {
    await createClass('fast', { policy });
    await createData('data');
    return createSnapshot(name, 'data', 'fast');
  };

  const patchSnapshot = (name: string, patch: object) =>
    client.patch<VolumeSnapshot>(VOLUME_SNAPSHOTS, name, patch, { namespace: NAMESPACE });

  const isReady = (name: string) =>
    until(`${name} is ready`, async () => {
      const found = await snapshot(name);
      return found?.status?.readyToUse ? found : undefined;
    });
  const says = (name: string, text: string) =>
    until(`${name} says: ${text}`, async () => {
      const found = await snapshot(name);
      return found?.status?.error?.message?.includes(text) ? found : undefined;
    });
  const isGone = (resource: Resource, name: string) =>
    until(`${resource.kind} ${name} is gone`, async () =>
      (await find(resource, name, resource.namespaced ? NAMESPACE : undefined)) === undefined
        ? true
        : undefined,
    );
  const events = async (name: string): Promise<KubeEvent[]> =>
    (await client.list<KubeEvent>(EVENTS, {})).items.filter(
      ({ involvedObject }) => involvedObject.name === name,
    );

  return {
    ...{ find, snapshot, content, contents, claim, events },
    ...{
      createVolume,
      makeVolume,
      createClaim,
      createPv,
      createData,
      createClass,
      createSnapshot,
      ask,
    },
    ...{ remove, isReady, says, isGone },
    /** Creates a snapshot like `ask` and waits until it is ready. */
    async take(name = 'backup', policy: 'Delete' | 'Retain' = 'Delete'): Promise<VolumeSnapshot> {
      await ask(name, policy);
      return isReady(name);
    },
    isTaken: (contentName: string) =>
      until(
        `${contentName} is taken`,
        async () => (await content(contentName))?.status?.readyToUse || undefined,
      ),
    /** Waits until a claim has, or lacks, the finalizer of a source. */
    isKept: (name: string, kept: boolean) =>
      until(`claim ${name} is ${kept ? '' : 'not '}kept as a source`, async () => {
        const { finalizers = [] } = (await claim(name))?.metadata ?? {};
        return finalizers.includes(OF_CLAIM) === kept || undefined;
      }),
    /** Adds the finalizer that the standard snapshot-controller adds first. */
    keep: (name: string) => patchSnapshot(name, { metadata: { finalizers: [AS_SOURCE] } }),
    /** Deletes a snapshot and removes its finalizers, as the standard snapshot-controller does. */
    async letGo(name: string): Promise<void> {
      await remove(VOLUME_SNAPSHOTS, name);
      await patchSnapshot(name, { metadata: { finalizers: null } });
    },
    patchSnapshot,
  };
}
