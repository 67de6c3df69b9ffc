import type { PersistentVolumeClaim } from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import { DRIVER, NO_PROVISIONER, VOLUME_API_VERSION } from '../../src/api/names.ts';
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  POPULATOR_DEFINITIONS,
  REFERENCE_GRANTS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { nodeNamed } from './cluster-objects.ts';
import { classNamed, onNode, volumeNamed } from './volumes.ts';

/** Objects of the screens of `stowage ui`, in a cluster without a daemon. */

const SNAPSHOT_API_VERSION = 'snapshot.storage.k8s.io/v1';

async function create<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  object: T,
  status?: object,
): Promise<T> {
  const { namespace, name } = object.metadata;
  const options = namespace === undefined ? {} : { namespace };
  const made = await client.create<T>(resource, object, options);
  if (status === undefined) return made;
  return client.patch<T>(resource, name, { status }, { ...options, subresource: 'status' });
}

const claim = (
  namespace: string,
  name: string,
  spec: PersistentVolumeClaim['spec'],
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
});

/**
 * Creates two nodes, the Volume `data1` with the claim db/data-0 and its snapshot db/nightly, a
 * pending claim web/new of a class of the daemon, a grant and a populator.
 */
export async function createUiWorld(client: KubeClient): Promise<void> {
  for (const name of ['db', 'web'])
    await create(client, NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await create(client, NODES, nodeNamed('n1'), {
    conditions: [
      { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure' },
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is ready' },
    ],
  });
  await create(client, NODES, nodeNamed('n2', { annotations: { 'stowage.dev/paused': 'disks' } }));
  for (const [name, provisioner] of [
    ['fast', NO_PROVISIONER],
    ['dynamic', DRIVER],
    ['foreign', 'example.com/other'],
  ] as const)
    await create(client, STORAGE_CLASSES, classNamed(name, { provisioner }));
  const { metadata: _, ...rest } = volumeNamed('data1');
  const since = new Date(Date.now() - 90_000).toISOString();
  const volume = await create<Volume>(
    client,
    VOLUMES,
    { ...rest, metadata: { name: 'data1' } },
    {
      phase: 'Available',
      capacity: '1073741824',
      deviceName: 'loop3',
      job: 'Provision/DONE',
      attempt: 2,
      conditions: [
        {
          ...{ type: 'Ready', status: 'True', reason: 'Ready', message: '' },
          ...{ lastTransitionTime: since, lastUpdateTime: since },
        },
      ],
      attachments: [
        {
          ...{ node: 'n1', state: 'Attached', device: 'loop3', since },
          ...{ safeToMount: true, safeToDetach: false, pods: ['db/db-0'] },
        },
      ],
    },
  );
  await create(client, PERSISTENT_VOLUMES, {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume' },
    metadata: {
      name: 'data1',
      ownerReferences: [
        {
          ...{ apiVersion: VOLUME_API_VERSION, kind: 'Volume' },
          ...{ name: 'data1', uid: volume.metadata.uid ?? '' },
        },
      ],
    },
    spec: {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      ...{ storageClassName: 'fast', local: { path: '/dev/disk/by-uuid/x' } },
      nodeAffinity: onNode('n1'),
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        namespace: 'db',
        name: 'data-0',
      },
    },
  } as KubeObject);
  await create(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    claim('db', 'data-0', { storageClassName: 'fast', volumeName: 'data1' }),
    { phase: 'Bound', capacity: { storage: '1Gi' } },
  );
  await create(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    claim('web', 'new', {
      storageClassName: 'dynamic',
      dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'gone' },
    }),
  );
  await create(
    client,
    PERSISTENT_VOLUME_CLAIMS,
    claim('web', 'foreign', { storageClassName: 'foreign' }),
  );
  await create(
    client,
    VOLUME_SNAPSHOTS,
    {
      ...{ apiVersion: SNAPSHOT_API_VERSION, kind: 'VolumeSnapshot' },
      metadata: { namespace: 'db', name: 'nightly' },
      spec: {
        source: { persistentVolumeClaimName: 'data-0' },
        volumeSnapshotClassName: 'stowage',
      },
    } as KubeObject,
    { readyToUse: true, restoreSize: '1Gi', creationTime: since },
  );
  await create(client, REFERENCE_GRANTS, {
    ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'ReferenceGrant' },
    metadata: { namespace: 'db', name: 'for-web' },
    spec: {
      from: [{ group: '', kind: 'PersistentVolumeClaim', namespace: 'web' }],
      to: [{ group: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'nightly' }],
    },
  } as KubeObject);
  await create(client, PERSISTENT_VOLUME_CLAIMS, {
    ...claim('web', 'copy', {
      storageClassName: 'dynamic',
      dataSourceRef: {
        ...{ apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot' },
        ...{ name: 'nightly', namespace: 'db' },
      },
    }),
  });
  await create(client, VOLUME_POPULATORS, {
    ...{ apiVersion: 'populator.storage.k8s.io/v1beta1', kind: 'VolumePopulator' },
    metadata: { name: 'images' },
    sourceKind: { group: 'stowage.dev', kind: 'Image' },
  } as KubeObject);
  await create(client, POPULATOR_DEFINITIONS, {
    ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'PopulatorDefinition' },
    metadata: { name: 'images' },
    spec: {
      sourceKind: { group: 'stowage.dev', kind: 'Image' },
      resource: { version: 'v1alpha1', plural: 'images' },
      node: { builtin: 'Image' },
    },
  } as KubeObject);
}
