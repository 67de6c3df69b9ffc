import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { ControllerName } from '../api/controllers.ts';
import type { KubeNode, Lease } from '../api/core.ts';
import { type Leader, leadingBeside } from '../api/leader.ts';
import type { Logger } from '../api/logger.ts';
import { LEASES, NODES } from '../api/resources.ts';
import { VERSION } from '../api/version.ts';
import type { SnapshotController } from '../controllers/snapshot/controller-mode.ts';
import { listAll } from '../kube/client.ts';
import { createInformer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { createNodeExecutor } from '../model/node-executor.ts';
import { observeJobEnds } from '../nodes/job-observer.ts';
import { type Clock, systemClock } from '../workqueue/clock.ts';
import { type AttachmentOptions, DEFAULT_ATTACHMENT } from './attachment-controller.ts';
import { transforms } from './cache-transforms.ts';
import type { HttpAddress } from './http-address.ts';
import { startHttpEndpoint } from './http-endpoint.ts';
import { type RightOptions, standForElection } from './leader-guard.ts';
import { removeLeftCapacities } from './left-capacities.ts';
import { createLog } from './log.ts';
import { startControllers } from './manager.ts';
import type { Metrics } from './metrics/metrics.ts';
import { type ReadinessSource, readiness } from './readiness.ts';
import { keepReloading, type ReloadOptions } from './reload.ts';
import { createLiveSettings, type Settings } from './settings.ts';

export interface WatchOptions extends Pick<RightOptions, 'connection' | 'election' | 'rate'> {
  settings: Settings;
  /** Source of settings that are reloaded while the daemon runs; unset: none. */
  config?: Pick<ReloadOptions<Settings>, 'path' | 'read'>;
  /** Calls back when the configuration and the kubeconfig must be reloaded. Default: never. */
  onHangup?: ReloadOptions<Settings>['onHangup'];
  controllers: ReadonlySet<ControllerName>;
  /** Unset: no HTTP endpoint. */
  http?: { address: HttpAddress; metricsPath: string };
  /** Metrics to update and to serve. */
  metrics?: Metrics;
  /** See ProvisioningOptions. */
  namespace?: string;
  /** Default: DEFAULT_ATTACHMENT. */
  attachment?: AttachmentOptions;
  /** Controller that binds VolumeSnapshots. Default: `auto`. */
  snapshotController?: SnapshotController;
  /** Default user ID of pods that fill volumes. */
  populatorUser?: number;
  crossNamespace?: boolean;
  /** Claims may start from VolumeSnapshotLinks. Default: true. */
  links?: boolean;
  verbose: boolean;
  /** Stops the daemon gracefully. */
  signal: AbortSignal;
}

/**
 * Time (ms) for running work to end, and then for its events and the Lease. The Deployment and the
 * systemd unit allow 45 s.
 */
const STOP_DEADLINE = 20_000;
const LAST_WRITES = 5000;

/**
 * Growth of the heap, in percent of the live objects, after which V8 collects garbage. Its default
 * lets garbage grow to several times the live objects. V8 reports a flag that it does not know, and
 * goes on; as an argument of node, such a flag would prevent the start.
 */
const HEAP_GROWTH = '--heap-growing-percent=50';

/**
 * Runs `stowage watch` until the signal. Logs JSON lines to standard error by default. Throws a
 * StowageError if it cannot serve HTTP, or on losing leadership. After such a loss, it has no
 * effect on the cluster or on any node.
 */
export async function runWatch(
  options: WatchOptions,
  executorFor = createNodeExecutor,
  { logger, around } = createLog(options.verbose),
): Promise<void> {
  setFlagsFromString(HEAP_GROWTH);
  const { connection, election: timing, rate, controllers, config, metrics, signal } = options;
  const live = createLiveSettings(options.settings);
  const { transport, localNodes, sshGuard, salt } = options.settings;
  const surroundings = { clock: systemClock, random: Math.random, logger };
  const host = hostname();
  let sources: readonly ReadinessSource[] = [];
  // Serve first: a process that cannot be probed must not lead.
  const endpoint =
    options.http &&
    (await startHttpEndpoint({
      ...options.http,
      ...(metrics && { metrics: metrics.read }),
      ready: () => readiness(sources, systemClock.now()),
      clock: systemClock,
      logger,
    }));
  const attachment = options.attachment ?? DEFAULT_ATTACHMENT;
  const leader: Leader = {
    version: VERSION,
    featureGates: { CrossNamespaceVolumeDataSource: options.crossNamespace ?? false },
    links: options.links ?? true,
    controllers: [...controllers],
    transport,
    ...(transport === 'local' && { nodes: localNodes }),
    maxWaitForUnmountMs: attachment.maxWaitForUnmountMs,
  };
  const right = standForElection({
    ...surroundings,
    connection,
    election: timing,
    rate,
    localNodes,
    leader,
    host,
  });
  const { election, client } = right;
  const nodes = createInformer<KubeNode>({
    ...surroundings,
    client,
    resource: NODES,
    transform: transforms.nodes,
  });
  metrics?.addInformer(NODES, nodes);
  const reached = executorFor({
    transport,
    localNodes,
    nodeNamed: (name) => nodes.get(name),
    addressOf: live.addressOf,
    minionOf: live.minionOf,
    ...(sshGuard && { sshGuard }),
    ...(salt && { salt }),
    check: right.checkNode,
    onUnshared: (err) =>
      logger.warn({ err }, 'connections over ssh are not shared: each call makes its own'),
    clock: systemClock,
  });
  const executor = metrics ? observeJobEnds(reached, systemClock, metrics.onJobEnd) : reached;
  const stopped = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

  nodes.start();
  const controller = startControllers({
    ...surroundings,
    client,
    nodes,
    executor,
    ...(metrics && { metrics }),
    managesNode: (node) => transport !== 'local' || localNodes.includes(node),
    host,
    workers: () => live.now().workers,
    retry: live.retry,
    enabled: controllers,
    namespace: options.namespace,
    crossNamespace: options.crossNamespace,
    populatorUser: options.populatorUser,
    links: options.links,
    kubeletRoot: attachment.kubeletRoot,
    maxWaitForUnmountMs: attachment.maxWaitForUnmountMs,
    attachment: controllers.has('attachment') ? attachment : undefined,
    ...(options.snapshotController && { snapshotController: options.snapshotController }),
    // Node objects contain the addresses of the nodes.
    begin: Promise.all([nodes.synced, election?.won]),
    around,
  });
  sources = [
    { name: NODES.plural, lastHeard: nodes.lastHeard },
    ...controller.sources,
    ...(election === undefined ? [] : [{ name: 'lease', lastHeard: election.lastHeard }]),
  ];
  if (timing !== undefined) {
    election?.won
      .then(() => warnOfOthers(client, timing.namespace, surroundings, signal))
      .catch(() => {});
  }
  const { namespace } = options;
  if (namespace !== undefined) {
    election?.won
      .then(() => removeLeftCapacities(client, namespace, surroundings.clock, signal))
      .catch((error: unknown) =>
        logger.debug({ err: error }, 'cannot delete CSIStorageCapacities in other namespaces'),
      );
  }
  controller.started.then(
    () =>
      logger.info(
        { transport, workers: live.now().workers, controllers: [...controllers] },
        'watching',
      ),
    // Stopped before the start: the caller of the stop reports it.
    () => {},
  );
  const { onHangup = () => {} } = options;
  onHangup(() => {
    connection.reload();
    logger.info({}, 'kubeconfig reloaded');
  });
  if (config !== undefined) {
    void keepReloading(
      { ...config, ...surroundings, onHangup, apply: live.replace, signal },
      options.settings,
    );
  }

  const lost = await Promise.race([stopped, ...(election ? [election.lost] : [])]);
  if (lost !== undefined) {
    logger.error({ err: lost }, 'lost leadership');
    // Cancel pending node requests: the next leader sends them again.
    void Promise.all([executor.close(), controller.stop(0, 0), nodes.stop()]);
    endpoint?.close();
    throw lost;
  }
  logger.info({}, 'stopping');
  await controller.stop(STOP_DEADLINE, LAST_WRITES);
  election?.resign();
  await nodes.stop();
  await executor.close();
  await election?.stop();
  endpoint?.close();
  logger.info({ reason: String(signal.reason) }, 'stopped');
}

/**
 * Warns of daemons that lead in other namespaces, since their Leases do not exclude each other.
 * Fails without permission to list Leases, which the caller ignores.
 */
async function warnOfOthers(
  client: Pick<KubeClient, 'list'>,
  namespace: string,
  { clock, logger }: { clock: Pick<Clock, 'timeOfDay'>; logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { items } = await listAll<Lease>(client, LEASES, { signal });
  for (const { metadata, spec } of leadingBeside(items, namespace, clock.timeOfDay())) {
    logger.warn(
      { lease: `${metadata.namespace}/${metadata.name}`, holder: spec?.holderIdentity },
      'another daemon leads, too: stop one of them, or give both the same --leader-election-namespace',
    );
  }
}
