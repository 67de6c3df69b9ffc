import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../src/api/core.ts';
import { ALL_CRDS } from '../../src/api/crds.ts';
import type { KubeObject, Resource } from '../../src/api/meta.ts';
import {
  EVENTS,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  STORAGE_CLASSES,
  VOLUMES,
} from '../../src/api/resources.ts';
import type { Volume } from '../../src/api/volume.ts';
import type { Rooms } from '../../src/controllers/lib/capacity/capacity-cache.ts';
import type { KeptCopy } from '../../src/controllers/lib/capacity/room.ts';
import type { ContentOperation } from '../../src/controllers/snapshot/content-deps.ts';
import type { SnapshotController } from '../../src/controllers/snapshot/controller-mode.ts';
import { connect } from '../../src/kube/connect.ts';
import { createEventRecorder } from '../../src/kube/events.ts';
import { createInformer, type InformerOptions } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import { createAbsentCrds } from '../../src/manager/absent-crds.ts';
import { transforms } from '../../src/manager/cache-transforms.ts';
import { createSnapshotController } from '../../src/manager/snapshot-controller.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { systemClock } from '../../src/workqueue/clock.ts';
import { type Controller, runController } from '../../src/workqueue/controller.ts';
import { createNode } from './claim-objects.ts';
import { clusterSnapshots } from './cluster-snapshots.ts';
import { type CopyingNodes, copyingNodes } from './copying-nodes.ts';
import { type Line, memoryLogger } from './logger.ts';
import { until } from './until.ts';

export type SnapshotCluster = Awaited<ReturnType<typeof startSnapshotCluster>>;

export interface StartOptions {
  flag?: SnapshotController;
  /** Default: the client of the cluster. */
  client?: KubeClient;
}

/**
 * Starts a sandbox with the Node n1 and copies in memory. `start` runs the controllers of
 * snapshots.
 */
export async function startSnapshotCluster({ crds = ALL_CRDS as readonly object[] } = {}) {
  const sandbox = await startSandbox({ crds: crds as never });
  const folder = await mkdtemp(join(tmpdir(), 'stowage-snapshots-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { client } = await connect({ kubeconfig });
  const nodes: CopyingNodes = copyingNodes();
  /** Writes by the controllers, such as `patch volumesnapshots/status backup`. */
  const writes: string[] = [];
  const operations: ContentOperation[] = [];
  const room = { freeBytes: 2n ** 40n };
  let copiesOn: ((node: string) => readonly KeptCopy[]) | undefined;
  /** Free space on the nodes, of which volumes take nothing. */
  const rooms: Rooms = {
    room(node, _place, _overcommit, own) {
      const copies = copiesOn?.(node).filter(({ uid }) => uid !== own) ?? [];
      return {
        freeBytes: copies.reduce((free, { sizeBytes }) => free - sizeBytes, room.freeBytes),
      };
    },
    observe: async () => {},
    forget() {},
    refuse() {},
  };
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
      volumes: inform<Volume>(VOLUMES, transforms.volumes),
      persistentVolumes: inform<PersistentVolume>(PERSISTENT_VOLUMES, transforms.persistentVolumes),
      claims: inform<PersistentVolumeClaim>(
        PERSISTENT_VOLUME_CLAIMS,
        transforms.persistentVolumeClaims,
      ),
      nodes: inform<KubeNode>(NODES, transforms.nodes),
      storageClasses: inform<StorageClass>(STORAGE_CLASSES, transforms.storageClasses),
    };
    const events = createEventRecorder({ ...common, component: 'stowage', host: 'test' });
    const snapshots = createSnapshotController({
      ...common,
      ...shared,
      absentCrds: createAbsentCrds(common.logger),
      flag,
      inform,
      work: nodes,
      rooms,
      managesNode: () => true,
      events,
      // A prompt retry shows that an event triggered it.
      retry: { startMs: 600_000, maxMs: 600_000 },
      workers: 4,
      onOperation: (operation) => operations.push(operation),
    });
    copiesOn = snapshots.copiesOn;
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

  await createNode(client, 'n1');
  return Object.assign(clusterSnapshots(client), {
    ...{ client, nodes, room, writes, operations, start, stop },
    untilAsked: (what: string) => until(what, async () => nodes.asked.includes(what) || undefined),
    lines: () => lines,
    async end(): Promise<void> {
      await stop();
      await sandbox.stop();
      await rm(folder, { recursive: true });
    },
  });
}

/** Starts a new cluster for each test of a file. */
export function snapshotCluster(): SnapshotCluster {
  const cluster = {} as SnapshotCluster;
  beforeEach(async () => {
    Object.assign(cluster, await startSnapshotCluster());
  });
  afterEach(() => cluster.end());
  return cluster;
}
