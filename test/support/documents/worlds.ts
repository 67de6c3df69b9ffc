import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeNode, PersistentVolumeClaim } from '../../../src/api/core.ts';
import { ALL_CRDS } from '../../../src/api/crds.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import {
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  STORAGE_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../../src/api/resources.ts';
import type { Volume } from '../../../src/api/volume.ts';
import { connect } from '../../../src/kube/connect.ts';
import { type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { LOCAL_CLASS, sparseVolume } from '../cluster.ts';
import { standIns } from '../sandbox/components.ts';
import { CONTENT, claimNamed, fresh, SNAPSHOT } from '../snapshots.ts';
import { startSshd } from '../sshd.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { ensureUdev } from '../udev.ts';
import type { World } from './story.ts';

const namespaceNamed = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

const nodeNamed = (name: string): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
});

const ready = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: 'b' } };

/** Starts a cluster with the nodes and namespaces of the pages, and nothing else. */
async function newCluster(options: Partial<SandboxOptions> = {}): Promise<World> {
  const sandbox = await startSandbox({
    crds: ALL_CRDS,
    featureGates: { CrossNamespaceVolumeDataSource: true },
    ...options,
  });
  const folder = await temporaryDirectory('docs-world');
  const kubeconfig = join(folder.path, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  for (const name of ['prod', 'test', 'db']) await client.create(NAMESPACES, namespaceNamed(name));
  for (const name of ['n1', 'n2', 'n3']) {
    await client.create(NODES, nodeNamed(name));
    await client.patch(NODES, name, { status: ready }, { subresource: 'status' });
  }
  return {
    client,
    env: { KUBECONFIG: kubeconfig },
    async stop() {
      await sandbox.stop();
      await folder.remove();
    },
  };
}

export const emptyCluster = (): Promise<World> => newCluster();

/** Starts a cluster with the claim prod/foo and a ready snapshot of it. */
export async function withSnapshot(): Promise<World> {
  const world = await newCluster();
  const { client } = world;
  await client.create<PersistentVolumeClaim>(
    PERSISTENT_VOLUME_CLAIMS,
    fresh(claimNamed('foo', {}, 'prod')),
  );
  const { metadata } = await client.create(VOLUME_SNAPSHOTS, fresh(SNAPSHOT));
  const ref = { ...CONTENT.spec.volumeSnapshotRef, uid: metadata.uid };
  const content = fresh({ ...CONTENT, spec: { ...CONTENT.spec, volumeSnapshotRef: ref } });
  await client.create(VOLUME_SNAPSHOT_CONTENTS, content);
  const status = { status: SNAPSHOT.status as object };
  await client.patch(VOLUME_SNAPSHOTS, 'foo-backup', status, {
    namespace: 'prod',
    subresource: 'status',
  });
  const { name } = CONTENT.metadata;
  await client.patch(
    VOLUME_SNAPSHOT_CONTENTS,
    name,
    { status: CONTENT.status },
    { subresource: 'status' },
  );
  return world;
}

/**
 * Starts a cluster with the Volume data1, attached to n1 for a pod, as left by a stopped daemon.
 */
export async function withVolume(): Promise<World> {
  const world = await newCluster();
  const { client } = world;
  await client.create(NAMESPACES, namespaceNamed('stowage'));
  await client.create(STORAGE_CLASSES, LOCAL_CLASS);
  const { metadata } = await client.create<Volume>(VOLUMES, sparseVolume('data1', 'n1', '1Gi'));
  const time = new Date().toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'Available', message: '' };
  const status = {
    phase: 'Available',
    observedGeneration: metadata.generation,
    conditions: [{ ...condition, lastUpdateTime: time, lastTransitionTime: time }],
    capacity: '1Gi',
    devicePath: `/dev/disk/by-uuid/${metadata.uid}`,
    attachments: [
      {
        ...{
          node: 'n1',
          state: 'Attached',
          safeToMount: true,
          safeToDetach: false,
          device: 'loop3',
        },
        ...{ pods: ['db/db-0'], since: time },
      },
    ],
  };
  await client.patch(VOLUMES, 'data1', { status }, { subresource: 'status' });
  return world;
}

/**
 * Starts a cluster whose node n1 is this machine, reached over ssh, with loop devices and udev.
 * Pods are scheduled. Requires root.
 */
export async function withNode(): Promise<World> {
  const stopUdev = await ensureUdev();
  const sshd = await startSshd({ nodes: ['n1', 'n2', 'n3'] });
  const nothing = async (): Promise<void> => {};
  const world = await newCluster(
    standIns({
      scheduler: true,
      kubelet: { nodes: ['n1'], mounts: { mount: nothing, unmount: nothing } },
    }),
  );
  return {
    ...world,
    env: { ...world.env, STOWAGE_SSH_CONFIG: sshd.configFile },
    async stop() {
      await world.stop();
      await sshd.stop();
      await stopUdev();
    },
  };
}
