import { CONTROLLERS, type ControllerName } from '../api/controllers.ts';
import type {
  KubeNode,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../api/core.ts';
import type { Leftover } from '../api/leftover.ts';
import type { Logger } from '../api/logger.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { COMPONENT } from '../api/names.ts';
import {
  LEFTOVERS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
  VOLUMES,
} from '../api/resources.ts';
import type { Volume } from '../api/volume.ts';
import { createNotReadyTimes } from '../controllers/attachdetach/not-ready-times.ts';
import { createLeftoverReconciler } from '../controllers/volume/leftover-reconciler.ts';
import { createVolumeReconciler } from '../controllers/volume/reconciler.ts';
import { createEventRecorder } from '../kube/events.ts';
import { indexBy } from '../kube/index-by.ts';
import { createInformer, type Informer, type InformerOptions } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { workNode } from '../model/volume-nodes.ts';
import type { Executor } from '../nodes/job.ts';
import { createJobWatcher } from '../nodes/job-watcher.ts';
import { createLoopNumbers } from '../storage/loop-numbers.ts';
import type { BackoffRange } from '../workqueue/backoff.ts';
import type { Clock } from '../workqueue/clock.ts';
import { type Controller, runController } from '../workqueue/controller.ts';
import { createWorkQueue } from '../workqueue/work-queue.ts';
import { createAbsentCrds } from './absent-crds.ts';
import {
  type AttachmentOptions,
  createAttachmentController,
  DEFAULT_ATTACHMENT,
} from './attachment-controller.ts';
import { transforms } from './cache-transforms.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createPopulation } from './population.ts';
import { createProvisioning, type ProvisioningOptions } from './provisioning.ts';
import type { ReadinessSource } from './readiness.ts';
import type { Run } from './runnable.ts';
import { registerVolumeHandlers } from './volume-event-handlers.ts';
import { watchGrants } from './watch-grants.ts';

export interface ControllersOptions extends ProvisioningOptions {
  client: KubeClient;
  /** Informer that is already started. */
  nodes: Informer<KubeNode>;
  executor: Executor;
  /** Default user ID of pods that fill volumes. */
  populatorUser?: number | undefined;
  /**
   * Reports whether the executor reaches the node. Volumes of other nodes are left to other
   * daemons.
   */
  managesNode(node: string): boolean;
  clock: Clock;
  random: () => number;
  logger: Logger;
  /** Host name for events. */
  host: string;
  /**
   * Maximum number of Volumes per node that are reconciled at once: an unreachable node blocks no
   * other.
   */
  workers: number | (() => number);
  retry: BackoffRange;
  /** Controllers that run. Default: all. */
  enabled?: ReadonlySet<ControllerName>;
  /**
   * Options of the attachment controller. Unset: it does not run, and Volumes report that they wait
   * for it.
   */
  attachment: AttachmentOptions | undefined;
  /** Root directory of the kubelets. Default: the usual one. */
  kubeletRoot?: string;
  /** Time (ms) before anything is taken from a NotReady node. */
  maxWaitForUnmountMs?: number;
  /** Work begins once this resolves; caches fill at once. Default: at once. */
  begin?: Promise<unknown>;
  /** See ControllerOptions. */
  around?: (work: () => Promise<void>) => Promise<void>;
  /** Counters of what is done here. The executor reports the ends of jobs. */
  metrics?: Metrics | undefined;
}

export interface RunningControllers {
  /** Resolves when the caches are filled and work has begun. */
  started: Promise<void>;
  /** Sources that must be current for the work to be sound. */
  sources: readonly ReadinessSource[];
  /**
   * Stops all work within `deadlineMs`, then writes pending events within `eventsMs`. Jobs on nodes
   * continue, and the next process finds them.
   */
  stop(deadlineMs: number, eventsMs: number): Promise<void>;
}

/**
 * Starts the controllers, with informers, queues and reconcilers, for Volumes and for Leftovers of
 * lost nodes.
 */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { client, nodes, executor, clock, random, logger, metrics } = options;
  const { enabled = new Set(CONTROLLERS), begin = Promise.resolve() } = options;
  const inform = <T extends KubeObject>(
    resource: Resource,
    transform: (object: T) => T,
    more: Pick<InformerOptions<T>, 'namespace' | 'labelSelector' | 'fieldSelector'> = {},
  ): Informer<T> => {
    const informer = createInformer<T>({
      client,
      clock,
      random,
      logger,
      resource,
      transform,
      ...more,
    });
    metrics?.addInformer(resource, informer);
    return informer;
  };
  const volumes = inform<Volume>(VOLUMES, transforms.volumes);
  const persistentVolumes = inform<PersistentVolume>(
    PERSISTENT_VOLUMES,
    transforms.persistentVolumes,
  );
  const storageClasses = inform<StorageClass>(STORAGE_CLASSES, transforms.storageClasses);
  const leftovers = inform<Leftover>(LEFTOVERS, transforms.leftovers);
  const volumesOfUid = indexBy(volumes, ({ metadata }) => metadata.uid);
  const needed = [volumes, persistentVolumes, storageClasses];
  const informers: { start(): void; stop(): Promise<void> }[] = [...needed, leftovers];
  const queueBy = (nodeOfKey: (key: string) => string | undefined) =>
    createWorkQueue({
      clock,
      random,
      retry: options.retry,
      groupOf: (key) => nodeOfKey(key) ?? '',
      perGroup: options.workers,
    });
  const placeOf = (volume: Volume) => workNode(volume, (name) => nodes.get(name));
  const queue = queueBy((name) => {
    const volume = volumes.get(name);
    return volume === undefined ? undefined : placeOf(volume);
  });
  const leftoverQueue = queueBy((uid) => leftovers.get(uid)?.spec.nodeName);
  const shared = {
    client,
    volumes,
    volumeOfUid: (uid: string) => volumesOfUid(uid)[0],
    persistentVolumes,
    nodes,
    executor,
    managesNode: options.managesNode,
    notReadySince: createNotReadyTimes(nodes, clock),
    kubeletRoot: options.kubeletRoot ?? DEFAULT_ATTACHMENT.kubeletRoot,
    maxWaitForUnmountMs: options.maxWaitForUnmountMs ?? DEFAULT_ATTACHMENT.maxWaitForUnmountMs,
    jobWatcher: createJobWatcher(executor),
    events: createEventRecorder({
      client,
      clock,
      component: COMPONENT,
      host: options.host,
      logger,
    }),
    clock,
    logger,
    absentCrds: createAbsentCrds(logger),
  };
  // Shared by all controllers that attach on these nodes.
  const loopNumbers = createLoopNumbers();
  const provisions = enabled.has('claim') || enabled.has('snapshot');
  const populates = enabled.has('data-source-validator') || enabled.has('populator');
  const claims =
    options.attachment !== undefined || provisions || populates
      ? inform<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, transforms.persistentVolumeClaims)
      : undefined;
  if (claims !== undefined) informers.push(claims);
  const pods =
    options.attachment !== undefined || enabled.has('claim') || enabled.has('populator')
      ? inform<Pod>(PODS, transforms.pods)
      : undefined;
  if (pods !== undefined) informers.push(pods);
  const attaching =
    claims && pods && options.attachment
      ? createAttachmentController({
          ...{ ...shared, ...options.attachment, metrics },
          ...{ storageClasses, claims, pods, loopNumbers, random },
        })
      : undefined;
  const grants = watchGrants({ ...shared, inform });
  const provisioning =
    claims && provisions
      ? createProvisioning({
          ...{
            ...options,
            ...shared,
            enabled,
            inform,
            storageClasses,
            claims,
            pods,
            grants,
            random,
          },
        })
      : undefined;
  const population =
    claims && populates
      ? createPopulation({
          ...options,
          ...shared,
          enabled,
          inform,
          storageClasses,
          claims,
          pods,
          grants,
          random,
        })
      : undefined;
  const reconcile = createVolumeReconciler({
    ...shared,
    storageClasses,
    loopNumbers,
    attachmentEnabled: attaching !== undefined,
    isMoving: (volume, node) => attaching?.isMoving(volume, node) ?? false,
    enqueue: (name) => queue.add(name),
    onObserved: metrics?.addVolumes(volumes),
    onFilled: metrics?.populations.onEnd,
  });
  metrics?.populations.addVolumes(volumes);
  const reconcileLeftover = createLeftoverReconciler({
    ...shared,
    leftovers,
    enqueue: (name) => leftoverQueue.add(name),
  });

  registerVolumeHandlers({
    volumes,
    persistentVolumes,
    leftovers,
    nodes,
    queue,
    leftoverQueue,
    placeOf,
  });
  for (const informer of informers) informer.start();
  attaching?.start();
  provisioning?.start();
  population?.start();
  grants.start();
  const controllers: Controller[] = [];
  let stopping = false;
  const { around } = options;
  const run: Run = (name, ofQueue, work, as = name) => {
    if (stopping || !enabled.has(name)) return;
    const onReconciled = metrics?.addController(as, ofQueue);
    const how = {
      queue: ofQueue,
      reconcile: work,
      logger,
      clock,
      onReconciled,
      ...(around && { around }),
    };
    controllers.push(runController(how));
  };
  const started = Promise.all([begin, ...needed.map((informer) => informer.synced)]).then(() => {
    run('volume', queue, reconcile);
  });
  // Started separately: a cluster with older CRDs has Volumes, but no Leftovers.
  Promise.all([started, leftovers.synced])
    .then(() => run('leftover', leftoverQueue, reconcileLeftover))
    // A stop before the first list rejects these; `stop` below reports it.
    .catch(() => {});
  attaching?.begin(started, run);
  provisioning?.begin(started, run);
  population?.begin(started, run);

  return {
    started,
    sources: [
      { name: VOLUMES.plural, lastHeard: volumes.lastHeard },
      { name: PERSISTENT_VOLUMES.plural, lastHeard: persistentVolumes.lastHeard },
      { name: STORAGE_CLASSES.plural, lastHeard: storageClasses.lastHeard },
      ...(pods === undefined ? [] : [{ name: PODS.plural, lastHeard: pods.lastHeard }]),
      ...(claims === undefined
        ? []
        : [{ name: PERSISTENT_VOLUME_CLAIMS.plural, lastHeard: claims.lastHeard }]),
      ...(provisioning?.sources ?? []),
      ...(population?.sources ?? []),
    ],
    async stop(deadlineMs, eventsMs) {
      stopping = true;
      await Promise.all([
        ...controllers.map((controller) => controller.stop(deadlineMs)),
        attaching?.stop(deadlineMs),
      ]);
      await Promise.all([
        provisioning?.stop(deadlineMs),
        population?.stop(deadlineMs),
        grants.stop(),
        ...informers.map((informer) => informer.stop()),
      ]);
      await shared.events.flush(eventsMs);
    },
  };
}
