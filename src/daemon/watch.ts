import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeNode } from '../api/core.ts';
import { NODES } from '../api/resources.ts';
import type { BackoffRange } from '../control/backoff.ts';
import { systemClock } from '../control/clock.ts';
import { createClient } from '../kube/client.ts';
import type { Connection } from '../kube/connect.ts';
import { type Election, type ElectionTiming, startElection } from '../kube/election.ts';
import { checkWrites, limitRate, type Rate } from '../kube/held-back.ts';
import { createInformer } from '../kube/informer.ts';
import { NodeError } from '../nodes/errors.ts';
import { createNodeExecutor } from '../volumes/node-executor.ts';
import type { ControllerName } from './controllers.ts';
import type { HttpAddress } from './http-address.ts';
import { startHttpEndpoint } from './http-endpoint.ts';
import { leaseName } from './lease-name.ts';
import { createLog } from './log.ts';
import { readiness, type Source } from './readiness.ts';
import { startVolumeController } from './volume-controller.ts';

export interface WatchOptions {
  connection: Connection;
  transport: 'ssh' | 'local';
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig?: string;
  controllers: ReadonlySet<ControllerName>;
  /** Volumes of one node that are worked on at once. */
  workers: number;
  retry: BackoffRange;
  /** Unset: this process works whoever else does. */
  election?: ElectionTiming & { namespace: string };
  /** Unset: as fast as the API server lets us. */
  rate?: Rate;
  /** Unset: none. */
  http?: { address: HttpAddress; metricsPath: string };
  metrics?: () => Promise<{ contentType: string; body: string }>;
  verbose: boolean;
  /** Ends the daemon in order. */
  signal: AbortSignal;
}

/** How long what runs may take to end, in ms; systemd kills after 90 s by default. */
const STOP_DEADLINE = 20_000;

/**
 * `stowage watch`: runs until the signal. Logs JSON lines to standard error. Throws a StowageError when it cannot serve
 * HTTP, and when it led and leads no more: from that moment on it has no effect, neither on the cluster nor on a node.
 */
export async function runWatch(options: WatchOptions, executorFor = createNodeExecutor): Promise<void> {
  const { connection, transport, localNodes, sshConfig, workers, retry, signal } = options;
  const { logger, around } = createLog(options.verbose);
  const surroundings = { clock: systemClock, random: Math.random, logger };
  const host = hostname();
  const { transport: api } = connection;
  let sources: readonly Source[] = [];
  // First: a process that cannot be looked at leads nothing.
  const endpoint =
    options.http &&
    (await startHttpEndpoint({
      ...options.http,
      ...(options.metrics && { metrics: options.metrics }),
      ready: () => readiness(sources, systemClock.now()),
      logger,
    }));
  // Renewing the lease waits for nothing.
  const elect = ({ namespace, ...timing }: NonNullable<WatchOptions['election']>): Election =>
    startElection({
      ...surroundings,
      client: connection.client,
      namespace,
      name: leaseName(localNodes),
      identity: `${host}_${randomBytes(8).toString('hex')}`,
      timing,
      monotonic: () => performance.now(),
    });
  const election = options.election && elect(options.election);
  const check = () => election?.check();
  const checked = checkWrites(api, check);
  const client = createClient(options.rate ? limitRate(checked, options.rate, systemClock) : checked);

  const common = { ...surroundings, client };
  const nodes = createInformer<KubeNode>({ ...common, resource: NODES });
  const executor = executorFor({
    transport,
    localNodes,
    ...(sshConfig === undefined ? {} : { sshConfig }),
    nodeNamed: (name) => nodes.get(name),
    check(node) {
      if (election === undefined || election.leads()) return;
      throw new NodeError('not-ours', node, `node ${node} is left to the process that leads`);
    },
    clock: systemClock,
  });
  const stopped = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  nodes.start();
  const controller = startVolumeController({
    ...common,
    nodes,
    executor,
    actsFor: (node) => transport === 'ssh' || localNodes.includes(node),
    host,
    workers,
    retry,
    enabled: options.controllers,
    // Without the Nodes it is not known where they are reached.
    begin: Promise.all([nodes.synced, election?.won]),
    around,
  });
  sources = [
    { name: NODES.plural, lastHeard: nodes.lastHeard },
    ...controller.sources,
    ...(election === undefined ? [] : [{ name: 'lease', lastHeard: election.lastHeard }]),
  ];

  controller.started.then(
    () => logger.info({ transport, workers, controllers: [...options.controllers] }, 'watching'),
    // Stopped before: whoever stops it says so.
    () => {},
  );
  const lost = await Promise.race([stopped, ...(election ? [election.lost] : [])]);
  if (lost !== undefined) {
    logger.error({ err: lost }, 'leads no more');
    // What was said to nodes and not answered is given up, and whoever leads asks them anew.
    void Promise.all([executor.close(), controller.stop(0), nodes.stop()]);
    endpoint?.close();
    throw lost;
  }
  logger.info({}, 'stopping');
  await controller.stop(STOP_DEADLINE);
  election?.resign();
  await nodes.stop();
  await executor.close();
  await election?.stop();
  endpoint?.close();
  logger.info({ reason: String(signal.reason) }, 'stopped');
}
