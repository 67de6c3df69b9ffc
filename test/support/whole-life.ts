import { BACKUPS, type Backup } from '../../src/api/builtins/backup.ts';
import { CONTROLLERS } from '../../src/api/controllers.ts';
import type {
  KubeEvent,
  KubeNode,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../src/api/core.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  CSI_DRIVERS,
  CSI_STORAGE_CAPACITIES,
  EVENTS,
  LEFTOVERS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POPULATOR_DEFINITIONS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_LINKS,
  VOLUME_SNAPSHOTS,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotClass } from '../../src/api/snapshot.ts';
import type { Volume } from '../../src/api/volume.ts';
import { readyOf } from '../../src/controllers/volume/status.ts';
import type { Connection } from '../../src/kube/connect.ts';
import { isAlreadyExists, isNotFound } from '../../src/kube/errors.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { runWatch } from '../../src/manager/watch.ts';
import { sparseVolume } from './cluster.ts';
import { HELLO_DEFINITION, HELLOS, hello, helloReference } from './hello.ts';
import { type Line, memoryLogger } from './logger.ts';
import { LINK_POPULATOR } from './snapshots.ts';
import { until } from './until.ts';
import { type WillingNodes, willingNodes } from './willing-node.ts';

export interface WholeLife {
  /**
   * Resolves once the daemon has made all its kinds of requests. Rejects after a timeout, or if the
   * daemon ends.
   */
  done: Promise<void>;
  lines: readonly Line[];
  /** Stops the daemon and its user, in any state. */
  stop(): Promise<void>;
}

export interface WholeLifeOptions {
  /**
   * Client with all permissions. The cluster has the class `local`, and serves snapshots,
   * populators and Hellos.
   */
  client: KubeClient;
  /** Connection of the daemon. */
  connection: Connection;
  /** Existing namespace of the daemon's Lease. */
  namespace: string;
}

/**
 * Runs `stowage watch` over nodes in memory, with a user who triggers all its kinds of API
 * requests.
 */
export function startWholeLife({ client, connection, namespace }: WholeLifeOptions): WholeLife {
  const stopping = new AbortController();
  const logger = memoryLogger();
  const nodes = willingNodes(64 << 20);
  const watching = runWatch(
    {
      connection,
      settings: {
        transport: 'ssh',
        localNodes: [],
        sshConfig: undefined,
        salt: undefined,
        workers: 2,
        retry: { startMs: 100, maxMs: 1000 },
        addresses: new Map(),
        minions: new Map(),
      },
      controllers: new Set(CONTROLLERS),
      namespace,
      // The Lease is renewed early, so that even this short run patches it.
      election: { namespace, leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 200 },
      verbose: false,
      signal: stopping.signal,
    },
    () => nodes,
    { logger, around: (work) => work() },
  );
  const ended = watching.then(() => Promise.reject(new Error('the daemon has ended')));
  const asking = haveAllDone(client, nodes, namespace, stopping.signal);
  const done = Promise.race([asking, ended]);
  done.catch(() => {});
  return {
    done,
    lines: logger.lines,
    async stop() {
      stopping.abort(new Error('stopped'));
      await Promise.allSettled([asking]);
      await watching;
    },
  };
}

async function haveAllDone(
  client: KubeClient,
  nodes: WillingNodes,
  own: string,
  signal: AbortSignal,
): Promise<void> {
  const seen = (what: string, look: () => Promise<boolean>) =>
    until(what, async () => {
      signal.throwIfAborted();
      return (await look()) || undefined;
    });
  const has = (name: string, what: string, fits: (volume: Volume) => boolean) =>
    seen(`${name} is ${what}`, async () => fits(await client.get<Volume>(VOLUMES, name)));
  const isIn = (name: string, phase: string) =>
    has(name, phase, ({ status }) => status?.phase === phase);
  const gone = (resource: Resource, name: string) =>
    seen(`${resource.kind} ${name} is gone`, () =>
      client.get(resource, name, { namespace: 'default' }).then(
        () => false,
        (error: unknown) => isNotFound(error) || Promise.reject(error),
      ),
    );
  let boots = 0;
  const boot = () => {
    const status = { nodeInfo: { bootID: `boot-${++boots}` } };
    return client.patch(NODES, 'n1', { status }, { subresource: 'status' });
  };
  const isTold = async () => {
    const { items } = await client.list<KubeEvent>(EVENTS, { namespace: 'default' });
    return items.some(({ count, involvedObject }) => involvedObject.name === 'a' && count > 1);
  };

  await client.create(NODES, node('n1'));
  await client.create(VOLUMES, sparseVolume('a', 'n1', '64Mi'));
  await isIn('a', 'Available');
  // A repeated event updates the same Event.
  while (!(await isTold())) {
    nodes.away.add('n1');
    await boot();
    await has('a', 'away', (volume) => readyOf(volume)?.reason === 'NodeUnreachable');
    nodes.away.delete('n1');
    await boot();
    await has('a', 'back', (volume) => readyOf(volume)?.status === 'True');
  }
  await client.delete(VOLUMES, 'a');
  await gone(VOLUMES, 'a');

  // A Volume that is attached for a pod.
  const onDemand = sparseVolume('d', 'n1', '64Mi');
  await client.create(VOLUMES, {
    ...onDemand,
    spec: { ...onDemand.spec, attachPolicy: 'OnDemand' },
  });
  await isIn('d', 'Available');
  const pod = await useIn(client, 'd', 'n1');
  await has('d', 'attached', ({ status }) => status?.attachments?.[0]?.safeToMount === true);
  await client.delete(PODS, pod, { namespace: 'default' });
  await has('d', 'detached', ({ status }) => status?.attachments?.length === 0);

  // A snapshot of its claim, with the default class.
  const namespace = 'default';
  await client.create(VOLUME_SNAPSHOT_CLASSES, defaultSnapshotClass);
  await client.create(VOLUME_SNAPSHOTS, snapshotOf('d', namespace));
  await seen('the snapshot is ready', async () => {
    const { status } = await client.get<VolumeSnapshot>(VOLUME_SNAPSHOTS, 'd', { namespace });
    return status?.readyToUse ?? false;
  });
  await client.delete(VOLUME_SNAPSHOTS, 'd', { namespace });
  await gone(VOLUME_SNAPSHOTS, 'd');

  // A backup, which takes its own snapshot.
  const backup: Backup = {
    ...{ apiVersion: 'stowage.dev/v1alpha1', kind: 'Backup', metadata: { name: 'd', namespace } },
    spec: { claimName: 'd', to: { path: '/archives/d' } },
  };
  await client.create(BACKUPS, backup);
  await seen('the backup is made, and its snapshot gone', async () => {
    const { status } = await client.get<Backup>(BACKUPS, 'd', { namespace });
    const { items } = await client.list(VOLUME_SNAPSHOTS, { namespace });
    return status?.phase === 'Completed' && items.length === 0;
  });
  await client.delete(BACKUPS, 'd', { namespace });
  await gone(BACKUPS, 'd');

  await haveClaimed(client, seen, gone, own);

  // A missing class, which the daemon reads from the API server.
  const unclassed = sparseVolume('unclassed', 'n3', '64Mi');
  await client.create(VOLUMES, {
    ...unclassed,
    spec: { ...unclassed.spec, storageClassName: 'none' },
  });
  await isIn('unclassed', 'Failed');

  // A lost node, which is forgotten and returns.
  await client.create(NODES, node('n2'));
  await client.create(VOLUMES, sparseVolume('b', 'n2', '64Mi'));
  await isIn('b', 'Available');
  nodes.away.add('n2');
  await client.delete(NODES, 'n2');
  const { uid = '' } = (await client.get<Volume>(VOLUMES, 'b')).metadata;
  await client.patch(VOLUMES, 'b', {
    metadata: { annotations: { 'stowage.dev/forget-node': uid } },
  });
  await client.delete(VOLUMES, 'b');
  await gone(VOLUMES, 'b');
  nodes.away.delete('n2');
  await client.create(NODES, node('n2'));
  await gone(LEFTOVERS, uid);
}

const node = (name: string): KubeNode => ({
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
});

/** Provisions, expands and deletes a claim. Others lack a grant, or are deleted while populated. */
async function haveClaimed(
  client: KubeClient,
  seen: (what: string, look: () => Promise<boolean>) => Promise<unknown>,
  gone: (resource: Resource, name: string) => Promise<unknown>,
  own: string,
): Promise<void> {
  const namespace = 'default';
  const name = 'claimed';
  const claimNow = () =>
    client.get<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, { namespace });
  const has = async (reason: string) =>
    (await client.list<KubeEvent>(EVENTS, { namespace })).items.some(
      (event) => event.reason === reason,
    );
  await client.create(NODES, node('n4'));
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  await client.patch(NODES, 'n4', { status: ready }, { subresource: 'status' });
  await client.create(STORAGE_CLASSES, DYNAMIC_CLASS);
  /** Creates a claim and an unscheduled pod that uses it. The claim already has a selected node. */
  const create = async (claim: string, spec: object) => {
    await client.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: claim, namespace },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'none' },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: 'none' }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
      },
    } as Pod);
    await client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claim,
        namespace,
        annotations: { 'volume.kubernetes.io/selected-node': 'n4' },
      },
      spec: {
        storageClassName: DYNAMIC_CLASS.metadata.name,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '64Mi' } },
        ...spec,
      },
    } as PersistentVolumeClaim);
  };
  /** Deletes a claim. No other controller removes its protection finalizer. */
  const remove = async (claim: string) => {
    await client.delete(PODS, claim, { namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await client.delete(PERSISTENT_VOLUME_CLAIMS, claim, { namespace }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const patch = { metadata: { finalizers: [] } };
    await client
      .patch(PERSISTENT_VOLUME_CLAIMS, claim, patch, { namespace })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    await gone(PERSISTENT_VOLUME_CLAIMS, claim);
  };

  await create(name, {});
  await seen('the claim is bound', async () => (await claimNow()).status?.phase === 'Bound');
  const { volumeName = '' } = (await claimNow()).spec;
  const more = { spec: { resources: { requests: { storage: '65Mi' } } } };
  await client.patch(PERSISTENT_VOLUME_CLAIMS, name, more, { namespace });
  await seen('the claim is told that it grows', async () =>
    ((await claimNow()).status?.conditions ?? []).some(({ type }) => type === 'Resizing'),
  );
  await remove(name);
  await gone(VOLUMES, volumeName);

  await client.create(VOLUME_POPULATORS, LINK_POPULATOR).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await client.create(VOLUME_SNAPSHOT_LINKS, {
    apiVersion: 'snapshot.storage.k8s.io/v1alpha1',
    kind: 'VolumeSnapshotLink',
    metadata: { name: 'link', namespace },
    spec: { source: { name: 'backup', namespace: 'kube-system' } },
  } as KubeObject);
  await create('linked', {
    dataSourceRef: {
      apiGroup: 'snapshot.storage.k8s.io',
      kind: 'VolumeSnapshotLink',
      name: 'link',
    },
  });
  await seen('the claim is told that it waits', () => has('ProvisioningFailed'));
  await remove('linked');
  await client.delete(VOLUME_SNAPSHOT_LINKS, 'link', { namespace });

  // The claim is deleted before the populating pod has run.
  await client.create(POPULATOR_DEFINITIONS, HELLO_DEFINITION);
  await client.create(HELLOS, hello('example', namespace), { namespace });
  await create('filled', { dataSourceRef: helloReference('example') });
  const primes = async () =>
    (await client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: own })).items;
  await seen(
    'a pod is made',
    async () => (await client.list(PODS, { namespace: own })).items.length > 0,
  );
  await client.delete(PERSISTENT_VOLUME_CLAIMS, 'filled', { namespace });
  await seen('nothing is left of it', async () => {
    for (const { metadata } of await primes()) {
      if (metadata.deletionTimestamp === undefined) continue;
      const patch = { metadata: { finalizers: [] } };
      await client
        .patch(PERSISTENT_VOLUME_CLAIMS, metadata.name, patch, { namespace: own })
        .catch(() => {});
    }
    return (await primes()).length === 0;
  });
  await remove('filled');
  await seen('its Volume is gone', async () =>
    (await client.list(VOLUMES)).items.every(({ metadata }) => !metadata.name.startsWith('pvc-')),
  );
  await client.delete(HELLOS, 'example', { namespace });
  await client.delete(POPULATOR_DEFINITIONS, HELLO_DEFINITION.metadata.name);
  await client.delete(STORAGE_CLASSES, DYNAMIC_CLASS.metadata.name);
  await seen('no room is told of', async () => {
    const { items } = await client.list(CSI_STORAGE_CAPACITIES);
    return items.length === 0;
  });
  await client.delete(CSI_DRIVERS, 'volume.stowage.dev');
  await client.delete(NODES, 'n4');
}

const DYNAMIC_CLASS: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'dynamic' },
  provisioner: 'volume.stowage.dev',
  parameters: { fsType: 'ext4' },
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};

const defaultSnapshotClass: VolumeSnapshotClass = {
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: {
    name: 'snapshots',
    annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' },
  },
  driver: 'volume.stowage.dev',
  deletionPolicy: 'Delete',
};

const snapshotOf = (claim: string, namespace: string): VolumeSnapshot => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshot',
  metadata: { name: claim, namespace },
  spec: { source: { persistentVolumeClaimName: claim } },
});

/**
 * Creates a claim bound to the Volume's PersistentVolume, and a pod with it on the node.
 * @returns the pod's name
 */
async function useIn(client: KubeClient, volume: string, nodeName: string): Promise<string> {
  const namespace = 'default';
  const metadata = { name: volume, namespace };
  const claim = await client.create<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata,
    spec: {
      volumeName: volume,
      storageClassName: 'local',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Mi' } },
    },
  } as PersistentVolumeClaim);
  const claimRef = {
    kind: 'PersistentVolumeClaim',
    namespace,
    name: volume,
    uid: claim.metadata.uid,
  };
  await client.patch(PERSISTENT_VOLUMES, volume, { spec: { claimRef } });
  await client.create<Pod>(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'none' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: volume } }],
    },
  } as Pod);
  return volume;
}
