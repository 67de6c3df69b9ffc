import { BACKUPS, type Backup } from '../api/builtins/backup.ts';
import type { KubeNode } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../api/snapshot.ts';
import { jobOf, snapshotNameOf } from '../controllers/backup/decide-backup.ts';
import { createBackupWork } from '../controllers/backup/node-work.ts';
import { createBackupReconciler } from '../controllers/backup/reconciler.ts';
import type { Result } from '../controllers/snapshot/content-reconciler.ts';
import { authorizationReads } from '../controllers/volume/read-secret.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Executor } from '../nodes/job.ts';
import type { JobWatcher } from '../nodes/job-watcher.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';
import type { Clock } from '../workqueue/clock.ts';
import { createWorkQueue, type WorkQueue } from '../workqueue/work-queue.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import type { ReadinessSource } from './readiness.ts';
import type { Inform } from './runnable.ts';
import { whenServed } from './wait-for-crds.ts';

export interface BackupControllerDeps {
  client: KubeClient;
  inform: Inform;
  snapshots: Informer<VolumeSnapshot>;
  contents: Informer<VolumeSnapshotContent>;
  /** Resolves when snapshots and contents are synced, which may never happen. */
  snapshotsKnown: Promise<unknown>;
  /** Reports whether the cluster lacks the snapshot CRDs. */
  lacksSnapshots(): boolean;
  nodes: Informer<KubeNode>;
  executor: Executor;
  jobWatcher: JobWatcher;
  managesNode(node: string): boolean;
  events: EventRecorder;
  clock: Clock;
  random: () => number;
  logger: Logger;
  absentCrds: AbsentCrds;
  retry: BackoffRange;
  workers: number | (() => number);
}

export interface RunningBackups {
  queue: WorkQueue;
  reconcile(key: string, signal: AbortSignal): Promise<Result>;
  /** Starts the informers as soon as the API server serves their kinds. */
  start(): void;
  /** Resolves when all Backups are listed. */
  synced: Promise<unknown>;
  sources: readonly ReadinessSource[];
  stop(): Promise<void>;
}

/** Creates the controller of Backups. Call it before the given informers start. */
export function createBackupController(deps: BackupControllerDeps): RunningBackups {
  const { client, inform, snapshots, contents, nodes, clock, random, logger } = deps;
  const backups = inform<Backup>(BACKUPS, transforms.backups);
  const queue = createWorkQueue({
    ...{ clock, random, retry: deps.retry },
    // An unreachable node blocks no work on others.
    groupOf(key) {
      const [namespace, name = ''] = key.split('/');
      const backup = backups.get(name, namespace);
      return (backup && jobOf(backup)?.node) ?? '';
    },
    perGroup: deps.workers,
  });
  const keyOf = ({ metadata }: Backup) => `${metadata.namespace}/${metadata.name}`;
  const again = (backup: Backup) => {
    queue.forget(keyOf(backup));
    queue.add(keyOf(backup));
  };
  let snapshotsKnown = false;
  deps.snapshotsKnown.then(
    () => {
      snapshotsKnown = true;
      for (const backup of backups.list()) again(backup);
    },
    () => {},
  );
  const reconcile = createBackupReconciler({
    hasSnapshots: () => (snapshotsKnown ? true : deps.lacksSnapshots() ? false : undefined),
    ...{ client, backups, snapshots, contents, nodes, clock, logger },
    ...{ jobWatcher: deps.jobWatcher, managesNode: deps.managesNode, events: deps.events },
    work: createBackupWork({
      executor: deps.executor,
      authorization: authorizationReads(client),
      logger,
    }),
    enqueue: (namespace, name) => queue.add(`${namespace}/${name}`),
  });
  const isOpen = ({ metadata, status }: Backup) =>
    metadata.deletionTimestamp !== undefined ||
    (status?.phase !== 'Completed' && status?.phase !== 'Failed');

  backups.onChange(({ object }) => queue.add(keyOf(object)));
  snapshots.onChange(({ object: { metadata } }) => {
    for (const backup of backups.list()) {
      const isIts = backup.metadata.namespace === metadata.namespace;
      if (isIts && snapshotNameOf(backup) === metadata.name) again(backup);
    }
  });
  contents.onChange(({ object: { spec } }) => {
    const { namespace, name } = spec.volumeSnapshotRef;
    for (const backup of backups.list()) {
      if (backup.metadata.namespace === namespace && snapshotNameOf(backup) === name)
        queue.add(keyOf(backup));
    }
  });
  nodes.onChange(({ object: { metadata } }) => {
    for (const backup of backups.list()) {
      const job = jobOf(backup);
      if (isOpen(backup) && (job === undefined || job.node === metadata.name))
        queue.add(keyOf(backup));
    }
  });

  const waiting = whenServed(client, [BACKUPS], clock, deps.absentCrds);
  let stopped = false;
  backups.synced.catch(() => {});
  return {
    queue,
    reconcile(key, signal) {
      const [namespace = '', name = ''] = key.split('/');
      return reconcile(namespace, name, signal);
    },
    start() {
      waiting.start().then(
        () => {
          if (!stopped) backups.start();
        },
        () => {},
      );
    },
    synced: backups.synced,
    sources: [waiting.sourceOf(BACKUPS, backups.lastHeard)],
    async stop() {
      stopped = true;
      waiting.stop();
      await backups.stop();
    },
  };
}
