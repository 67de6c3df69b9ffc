import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeEvent, KubeNode, PersistentVolume, PersistentVolumeClaim } from '../../src/api/core.ts';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { systemClock } from '../../src/control/clock.ts';
import { type Controller, runController } from '../../src/control/controller.ts';
import { keepClaim, keepNode, keepOwn, keepPersistentVolume } from '../../src/daemon/kept-fields.ts';
import { createSnapshotController } from '../../src/daemon/snapshot-controller.ts';
import { connect } from '../../src/kube/connect.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { createEventRecorder } from '../../src/kube/events.ts';
import { createInformer, type InformerOptions } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { ContentOperation } from '../../src/provisioning/snapshots/content-effects.ts';
import type { SnapshotController } from '../../src/provisioning/snapshots/mode.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { sparseVolume } from './cluster.ts';
import { type CopyingNodes, copyingNodes } from './copying-nodes.ts';
import { type Line, memoryLogger } from './logger.ts';
import { until } from './until.ts';

export const NAMESPACE = 'default';
export type SnapshotCluster = Awaited<ReturnType<typeof startSnapshotCluster>>;

export interface StartOptions {
  flag?: SnapshotController;
  /** Default: the cluster's own. */
  client?: KubeClient;
}

/** A sandbox's API server with the Node n1, copies in memory, and the controllers of snapshots, begun by `start`. */
export async function startSnapshotCluster({ crds = ALL_CRDS as readonly object[] } = {}) {
  const sandbox = await startSandbox({ crds: crds as never });
  const folder = await mkdtemp(join(tmpdir(), 'stowage-snapshots-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  const nodes: CopyingNodes = copyingNodes();
  /** Each write of the controllers: `patch volumesnapshots/status backup`. */
  const writes: string[] = [];
  const operations: ContentOperation[] = [];
  let lines: readonly Line[] = [];
  let stopRunning: (() => Promise<void>) | undefined;

  const noting = (real: KubeClient): KubeClient => ({
    ...real,
    create(resource, object, options) {
      if (resource !== EVENTS) writes.push(`create ${resource.plural} ${object.metadata.name}`);
      return real.create(resource, object, options);
    },
    patch(resource, name, patch, options) {
      const part = options?.subresource === undefined ? '' : `/${options.subresource}`;
      if (resource !== EVENTS) writes.push(`patch ${resource.plural}${part} ${name}`);
      return real.patch(resource, name, patch, options);
    },
    delete(resource, name, options) {
      writes.push(`delete ${resource.plural} ${name}`);
      return real.delete(resource, name, options);
    },
  });

  function start({ flag = 'builtin', client: given = client }: StartOptions = {}): void {
    const logger = memoryLogger();
    lines = logger.lines;
    const used = noting(given);
    const common = { client: used, clock: systemClock, random: () => 0, logger };
    const inform = <T extends KubeObject>(
      resource: Resource,
      transform: (object: T) => T,
      more: Pick<InformerOptions<T>, 'fieldSelector'> = {},
    ) => createInformer<T>({ ...common, resource, transform, ...more });
    const shared = {
      volumes: inform<Volume>(VOLUMES, keepOwn),
      persistentVolumes: inform<PersistentVolume>(PERSISTENT_VOLUMES, keepPersistentVolume),
      claims: inform<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, keepClaim),
      nodes: inform<KubeNode>(NODES, keepNode),
    };
    const events = createEventRecorder({ ...common, component: 'stowage', host: 'test' });
    const snapshots = createSnapshotController({
      ...common,
      ...shared,
      flag,
      inform,
      work: nodes,
      actsFor: () => true,
      events,
      // What is tried again soon only because something woke it.
      retry: { startMs: 600_000, maxMs: 600_000 },
      workers: 4,
      onOperation: (operation) => operations.push(operation),
    });
    const informers = Object.values(shared);
    for (const informer of informers) informer.start();
    snapshots.start();
    let controller: Controller | undefined;
    Promise.all([snapshots.synced, ...informers.map(({ synced }) => synced)])
      .then(() => {
        controller = runController({ ...common, ...snapshots });
      })
      .catch(() => {});
    stopRunning = async () => {
      await Promise.all([snapshots.stop(), ...informers.map((informer) => informer.stop())]);
      await controller?.stop(5000);
      await events.flush(5000);
    };
  }

  async function stop(): Promise<void> {
    await stopRunning?.();
    stopRunning = undefined;
  }

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
  const contents = async () => (await client.list<VolumeSnapshotContent>(VOLUME_SNAPSHOT_CONTENTS, {})).items;
  const claim = (name: string) => find<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, NAMESPACE);

  async function createNode(name: string): Promise<void> {
    await client.create<KubeNode>(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await client.patch(NODES, name, { status: { conditions } }, { subresource: 'status' });
  }

  /** A Volume on n1 that is made. */
  async function createVolume(name: string, spec: Partial<Volume['spec']> = {}): Promise<Volume> {
    const wanted = sparseVolume(name, 'n1', '1Gi');
    const { metadata } = await client.create<Volume>(VOLUMES, {
      ...wanted,
      spec: { ...wanted.spec, ...spec },
    });
    return spec.source === undefined ? makeVolume(metadata.name) : client.get(VOLUMES, metadata.name);
  }
  async function makeVolume(name: string): Promise<Volume> {
    const { metadata } = await client.get<Volume>(VOLUMES, name);
    const paths = [`/var/lib/metalk8s/storage/sparse/${metadata.uid}`];
    const status = { phase: 'Available', prepared: { node: 'n1', paths, identity: '1:2' } };
    return client.patch<Volume>(VOLUMES, name, { status }, { subresource: 'status' });
  }

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

  /** Of the Volume and for the claim of its name, which are there. */
  async function createPv(name: string): Promise<void> {
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
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
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
  }

  /** A Volume with a claim that has it, all of that name. */
  async function createData(name: string): Promise<void> {
    await createVolume(name);
    await createClaim(name);
    await createPv(name);
  }

  const createClass = (
    name: string,
    { policy = 'Delete' as 'Delete' | 'Retain', isDefault = false, parameters = {} } = {},
  ): Promise<VolumeSnapshotClass> =>
    client.create<VolumeSnapshotClass>(VOLUME_SNAPSHOT_CLASSES, {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: {
        name,
        ...(isDefault && { annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' } }),
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

  await createNode('n1');
  return {
    ...{ client, nodes, writes, operations, start, stop, find },
    ...{ snapshot, content, contents, claim, events },
    ...{
      createNode,
      createVolume,
      makeVolume,
      createClaim,
      createPv,
      createData,
      createClass,
      createSnapshot,
    },
    ...{ remove, isReady, says, isGone },
    lines: () => lines,
    async end(): Promise<void> {
      await stop();
      await sandbox.stop();
      await rm(folder, { recursive: true });
    },
  };
}
