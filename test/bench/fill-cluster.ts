import type { KubeNode, StorageClass } from '../../src/api/core.ts';
import { NODES, PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { buildPv } from '../../src/controllers/volume/persistent-volume.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { SPARSE_DIRECTORY } from '../../src/storage/loopfile/file.ts';

export const NODE_COUNT = 100;
export const SIZE = 1n << 30n;
/** Concurrent requests. */
const AT_ONCE = 50;

/** UIDs of the Volumes on each node. The index of a UID is the number of its loop device. */
export type Placed = Record<string, string[]>;

/**
 * Creates nodes as kubelets write them, a storage class, and Available Volumes with their
 * PersistentVolumes.
 */
export async function fillCluster(client: KubeClient, count: number): Promise<Placed> {
  const storageClass: StorageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local' },
    provisioner: 'kubernetes.io/no-provisioner',
  };
  await client.create(STORAGE_CLASSES, storageClass);
  for (let index = 0; index < NODE_COUNT; index++)
    await client.create(NODES, nodeLike(`node-${index}`));
  const placed: Placed = {};
  let next = 0;
  const fill = async () => {
    for (let index = next++; index < count; index = next++) {
      const node = `node-${index % NODE_COUNT}`;
      const uids = placed[node] ?? [];
      placed[node] = uids;
      const number = Math.floor(index / NODE_COUNT);
      uids[number] = await addVolume(client, index, node, number);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  return placed;
}

/** @returns the UID of the Volume */
async function addVolume(
  client: KubeClient,
  index: number,
  node: string,
  number: number,
): Promise<string> {
  const name = `volume-${index}`;
  const { metadata } = await client.create<Volume>(VOLUMES, {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: {
      name,
      labels: { app: 'bench' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(500) },
      finalizers: ['storage.metalk8s.scality.com/volume-protection'],
    },
    spec: {
      nodeName: node,
      storageClassName: 'local',
      sparseLoopDevice: { size: '1Gi' },
      template: { metadata: { labels: { app: 'bench' } } },
    },
  });
  const { uid = '' } = metadata;
  const at = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Available', message: '' };
  const volume = await client.patch<Volume>(
    VOLUMES,
    name,
    {
      status: {
        phase: 'Available',
        conditions: [{ ...ready, lastUpdateTime: at, lastTransitionTime: at }],
        job: 'PrepareVolume/DONE',
        attempt: 1,
        observedGeneration: 1,
        deviceName: `loop${number}`,
        devicePath: `/dev/disk/by-uuid/${uid}`,
        capacity: '1Gi',
        prepared: { node, paths: [`${SPARSE_DIRECTORY}/${uid}`], identity: '' },
      },
    },
    { subresource: 'status' },
  );
  const options = { fs: { type: 'ext4' as const, options: [] }, mountOptions: ['noatime'] };
  const pv = buildPv(volume, options, [volume.spec.nodeName]);
  const claimRef = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: 'bench',
    name,
    uid,
  };
  await client.create(PERSISTENT_VOLUMES, { ...pv, spec: { ...pv.spec, claimRef } });
  return uid;
}

/** Returns a Node with as many images as kubelets report. */
export function nodeLike(name: string): KubeNode {
  const image = (index: number) => ({
    names: [
      `registry.example.com/team/image-${index}@sha256:${'0'.repeat(64)}`,
      `registry.example.com/team/image-${index}:v1.2.3`,
    ],
    sizeBytes: 123_456_789,
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      conditions: [{ type: 'Ready', status: 'True', message: 'kubelet is posting ready status' }],
      ...{ images: Array.from({ length: 50 }, (_, index) => image(index)) },
    },
  };
}
