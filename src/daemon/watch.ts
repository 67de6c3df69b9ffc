import { hostname } from 'node:os';
import { pino } from 'pino';
import type { KubeNode } from '../api/core.ts';
import { NODES } from '../api/resources.ts';
import type { BackoffRange } from '../control/backoff.ts';
import { systemClock } from '../control/clock.ts';
import { createInformer } from '../kube/informer.ts';
import type { ApiCall } from '../kube/transport.ts';
import type { KubeClient } from '../kube/types.ts';
import { tellJobEnds } from '../nodes/job-ends.ts';
import { createNodeExecutor } from '../volumes/node-executor.ts';
import { keepNode } from './kept-fields.ts';
import { createMetrics } from './metrics/metrics.ts';
import { startVolumeController } from './volume-controller.ts';

export interface WatchOptions {
  /** A client that tells of each request that it sends. */
  connect(onCall: (call: ApiCall) => void): Promise<KubeClient>;
  transport: 'ssh' | 'local';
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig?: string;
  /** Volumes of one node that are worked on at once. */
  workers: number;
  retry: BackoffRange;
  verbose: boolean;
  /** Ends the daemon in order. */
  signal: AbortSignal;
}

/** How long what runs may take to end, in ms; systemd kills after 90 s by default. */
const STOP_DEADLINE = 20_000;

/** `stowage watch`: runs until the signal. Logs JSON lines to standard error. */
export async function runWatch(options: WatchOptions): Promise<void> {
  const { transport, localNodes, workers, retry, signal } = options;
  const logger = pino(
    { level: options.verbose ? 'debug' : 'info' },
    pino.destination({ dest: 2, sync: true }),
  );
  const metrics = createMetrics({ clock: systemClock, transportOf: () => transport });
  const client = await options.connect(metrics.onCall);
  const common = { client, clock: systemClock, random: Math.random, logger };
  const nodes = createInformer<KubeNode>({ ...common, resource: NODES, transform: keepNode });
  metrics.addInformer(NODES, nodes);
  const reached = createNodeExecutor({
    transport,
    localNodes,
    ...(options.sshConfig === undefined ? {} : { sshConfig: options.sshConfig }),
    nodeNamed: (name) => nodes.get(name),
    clock: systemClock,
  });
  const executor = tellJobEnds(reached, systemClock, metrics.onJobEnd);
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  nodes.start();
  // Without the Nodes it is not known where they are reached.
  await Promise.race([nodes.synced, stopped]);
  if (!signal.aborted) {
    const controller = startVolumeController({
      ...common,
      nodes,
      executor,
      metrics,
      actsFor: (node) => transport === 'ssh' || localNodes.includes(node),
      host: hostname(),
      workers,
      retry,
    });
    await Promise.race([controller.started, stopped]);
    logger.info({ transport, workers }, 'watching');
    await stopped;
    logger.info({}, 'stopping');
    await controller.stop(STOP_DEADLINE);
  }
  await nodes.stop();
  await executor.close();
  logger.info({ reason: String(signal.reason) }, 'stopped');
}
