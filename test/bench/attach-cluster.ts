import type { PersistentVolumeClaim, Pod } from '../../src/api/core.ts';
import { CRDS } from '../../src/api/crds.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { buildPv } from '../../src/controllers/volume/persistent-volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { SPARSE_DIRECTORY } from '../../src/storage/loopfile/file.ts';
import { LOCAL_CLASS, sparseVolume } from '../support/cluster.ts';
import { until } from '../support/until.ts';
import { nodeLike, type Placed } from './fill-cluster.ts';

/**
 * Objects of both sides in a cluster without kubelets: nodes, Volumes with their claims, and pods.
 */

export const NAMESPACE = 'default';
/** Concurrent requests. */
const AT_ONCE = 50;

/** Calls `work` with each index in order, with AT_ONCE calls in parallel. */
export async function forEach(
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const keepWorking = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, keepWorking));
}

const nodeNamed = (index: number) => `node-${index}`;

/**
 * Creates the CRDs, a class and the nodes. kube-controller-manager attaches the volumes of the
 * nodes.
 */
export async function createNodes(client: KubeClient, count: number): Promise<void> {
  for (const crd of CRDS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, crd);
  await until('Volumes are served', () =>
    client.list(VOLUMES).then(
      () => true as const,
      () => undefined,
    ),
  );
  await client.create(STORAGE_CLASSES, LOCAL_CLASS);
  await forEach(count, (index) => {
    const node = nodeLike(nodeNamed(index));
    const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
    return client.create(NODES, { ...node, metadata: { ...node.metadata, annotations } });
  });
}

/**
 * Creates provisioned Volumes that are attached nowhere. Each has a bound claim of the same name.
 */
export async function createVolumes(
  client: KubeClient,
  count: number,
  nodes: number,
): Promise<Placed> {
  const placed: Placed = {};
  await forEach(count, async (index) => {
    const name = volumeNamed(index);
    const node = nodeNamed(index % nodes);
    const uid = await createVolume(client, name, node);
    const uids = placed[node] ?? [];
    placed[node] = uids;
    uids[Math.floor(index / nodes)] = uid;
  });
  return placed;
}

export const volumeNamed = (index: number) => `volume-${index}`;

async function createVolume(client: KubeClient, name: string, node: string): Promise<string> {
  const volume = sparseVolume(name, node, '1Gi');
  const made = await client.create<Volume>(VOLUMES, {
    ...volume,
    metadata: { name, finalizers: ['storage.metalk8s.scality.com/volume-protection'] },
    spec: { ...volume.spec, attachPolicy: 'OnDemand' },
  });
  const { uid = '' } = made.metadata;
  const at = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Available', message: '' };
  const status = {
    phase: 'Available',
    conditions: [{ ...ready, lastUpdateTime: at, lastTransitionTime: at }],
    job: 'PrepareVolume/DONE',
    attempt: 1,
    observedGeneration: made.metadata.generation,
    devicePath: `/dev/disk/by-uuid/${uid}`,
    capacity: '1Gi',
    prepared: { node, paths: [`${SPARSE_DIRECTORY}/${uid}`], identity: '' },
  };
  const available = await client.patch<Volume>(
    VOLUMES,
    name,
    { status },
    { subresource: 'status' },
  );
  const claim = await client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      volumeName: name,
      storageClassName: 'local',
      ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  });
  // The binder does not run.
  await client.patch(
    PERSISTENT_VOLUME_CLAIMS,
    name,
    { status: { phase: 'Bound' } },
    { namespace: NAMESPACE, subresource: 'status' },
  );
  const options = { fs: { type: 'ext4' as const, options: [] }, mountOptions: ['noatime'] };
  const pv = buildPv(available, options, [available.spec.nodeName]);
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    namespace: NAMESPACE,
    name,
    uid: claim.metadata.uid ?? '',
  };
  await client.create(PERSISTENT_VOLUMES, { ...pv, spec: { ...pv.spec, claimRef } });
  return uid;
}

/** Returns a pod that is bound to its node at creation and vanishes once it is deleted. */
export function podOn(name: string, node: number, volume: object): Pod {
  const spec = {
    nodeName: nodeNamed(node),
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'c',
        image: 'registry.example.com/app:1',
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', ...volume }],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE }, spec };
}

export const createPod = (client: KubeClient, pod: Pod) => client.create(PODS, pod);
export const deletePod = (client: KubeClient, { metadata: { name } }: Pod) =>
  client.delete(PODS, name, { namespace: NAMESPACE });
