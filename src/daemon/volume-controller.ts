import type { PersistentVolume, StorageClass } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import type { KubeObject } from '../api/meta.ts';
import { COMPONENT } from '../api/names.ts';
import { PERSISTENT_VOLUMES, STORAGE_CLASSES, VOLUMES } from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import type { BackoffRange } from '../control/backoff.ts';
import type { Clock } from '../control/clock.ts';
import { type Controller, runController } from '../control/controller.ts';
import { createWorkQueue } from '../control/work-queue.ts';
import { createEventRecorder } from '../kube/events.ts';
import { createInformer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { createFollower } from '../nodes/follow.ts';
import type { Executor } from '../nodes/job.ts';
import { nodeOf } from '../volumes/desired.ts';
import { createVolumeReconciler } from '../volumes/reconciler.ts';

export interface VolumeControllerOptions {
  client: KubeClient;
  executor: Executor;
  /** The nodes that the executor reaches; Volumes of others are left to whoever does. */
  actsFor(node: string): boolean;
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** The host that events are reported from. */
  host: string;
  /** Volumes of one node that are worked on at once: one that does not answer holds up no other's. */
  workers: number;
  retry: BackoffRange;
}

export interface RunningController {
  /** Resolves when the caches are filled; work has begun then. */
  started: Promise<void>;
  /** Ends what runs, for `deadlineMs` at most. Jobs on nodes go on, and whoever starts next finds them. */
  stop(deadlineMs: number): Promise<void>;
}

/** The Volume controller: informers, queue, reconciler. */
export function startVolumeController(options: VolumeControllerOptions): RunningController {
  const { client, executor, clock, random, logger } = options;
  const common = { client, clock, random, logger, transform: withoutManagedFields };
  const volumes = createInformer<Volume>({ ...common, resource: VOLUMES });
  const persistentVolumes = createInformer<PersistentVolume>({ ...common, resource: PERSISTENT_VOLUMES });
  const storageClasses = createInformer<StorageClass>({ ...common, resource: STORAGE_CLASSES });
  const informers = [volumes, persistentVolumes, storageClasses];
  const queue = createWorkQueue({
    clock,
    random,
    retry: options.retry,
    groupOf(name) {
      const volume = volumes.get(name);
      return volume === undefined ? '' : nodeOf(volume);
    },
    perGroup: options.workers,
  });
  const events = createEventRecorder({ client, clock, component: COMPONENT, host: options.host, logger });
  const { reconcile } = createVolumeReconciler({
    client,
    volumes,
    persistentVolumes,
    storageClasses,
    executor,
    actsFor: options.actsFor,
    follower: createFollower(executor),
    events,
    clock,
    logger,
    enqueue: (name) => queue.add(name),
  });

  volumes.onChange(({ object, old }) => {
    if (old === undefined || asksForMore(old, object)) queue.add(object.metadata.name);
  });
  persistentVolumes.onChange(({ object }) => {
    // Of the same name, whoever its owner says it is.
    if (volumes.get(object.metadata.name) !== undefined) queue.add(object.metadata.name);
  });

  for (const informer of informers) informer.start();
  let controller: Controller | undefined;
  const started = Promise.all(informers.map((informer) => informer.synced)).then(() => {
    controller = runController({ queue, reconcile, logger, clock });
  });
  // A stop before the first list rejects it, and `stop` below is the one that is told.
  started.catch(() => {});

  return {
    started,
    async stop(deadlineMs) {
      await controller?.stop(deadlineMs);
      await Promise.all(informers.map((informer) => informer.stop()));
      await events.flush(deadlineMs);
    },
  };
}

/** A status is written by us, and whoever writes one goes on from it: called again by each write, it would not rest. */
function asksForMore(old: Volume, { metadata }: Volume): boolean {
  return (
    old.metadata.uid !== metadata.uid ||
    old.metadata.generation !== metadata.generation ||
    old.metadata.deletionTimestamp !== metadata.deletionTimestamp ||
    old.metadata.finalizers?.join() !== metadata.finalizers?.join()
  );
}

/** The largest part of most objects, and nothing reads it. */
function withoutManagedFields<T extends KubeObject>(object: T): T {
  delete (object.metadata as { managedFields?: unknown }).managedFields;
  return object;
}
