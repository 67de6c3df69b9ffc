import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StorageClass } from '../../src/api/core.ts';
import { type ALL_CRDS, CRDS } from '../../src/api/crds.ts';
import { STORAGE_CLASSES } from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import { connect } from '../../src/kube/connect.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createNode } from './claim-objects.ts';

export interface TestCluster {
  client: KubeClient;
  /** Path of the kubeconfig. */
  kubeconfig: string;
  stop(): Promise<void>;
}

/** Storage class for statically created Volumes. */
export const LOCAL_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'local' },
  provisioner: 'kubernetes.io/no-provisioner',
  parameters: { fsType: 'ext4', mkfsOptions: '["-m", "0"]' },
  mountOptions: ['noatime'],
  reclaimPolicy: 'Retain',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/**
 * Starts a sandbox with a storage class `local` for statically created Volumes.
 * @param options.nodes names of Ready Nodes: a Volume gets no PersistentVolume without its Node
 */
export async function startCluster({
  crds = CRDS as readonly (typeof ALL_CRDS)[number][],
  nodes = [] as readonly string[],
} = {}): Promise<TestCluster> {
  const sandbox = await startSandbox({ crds });
  const folder = await mkdtemp(join(tmpdir(), 'stowage-cluster-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  await client.create(STORAGE_CLASSES, LOCAL_CLASS);
  for (const name of nodes) await createNode(client, name);
  return {
    client,
    kubeconfig,
    async stop() {
      await sandbox.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Returns a sparse ext4 Volume as in the manuals of MetalK8s. */
export function sparseVolume(name: string, nodeName: string, size: string): Volume {
  return {
    apiVersion: 'storage.metalk8s.scality.com/v1alpha1',
    kind: 'Volume',
    metadata: { name },
    spec: {
      nodeName,
      storageClassName: 'local',
      sparseLoopDevice: { size },
      template: { metadata: { labels: { 'app.kubernetes.io/name': 'test' } } },
    },
  };
}
