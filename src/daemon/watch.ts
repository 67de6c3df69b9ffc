import { hostname } from 'node:os';
import { pino } from 'pino';
import type { KubeNode } from '../api/core.ts';
import type { Logger } from '../api/logger.ts';
import { NODES } from '../api/resources.ts';
import type { BackoffRange } from '../control/backoff.ts';
import { type Clock, systemClock } from '../control/clock.ts';
import { createInformer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Executor } from '../nodes/job.ts';
import { createLocalShell } from '../nodes/local-shell.ts';
import { createShellExecutor } from '../nodes/shell-executor.ts';
import { createSshShell } from '../nodes/ssh-shell.ts';
import { addressOfNode } from './node-address.ts';
import { startVolumeController } from './volume-controller.ts';

export interface WatchOptions {
  client: KubeClient;
  transport: 'ssh' | 'local';
  /** The names under which this machine is a node; for `local` only. */
  localNodes: readonly string[];
  /** Instead of ~/.ssh/config; for `ssh` only. */
  sshConfig?: string;
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
  const { client, signal } = options;
  const logger = pino(
    { level: options.verbose ? 'debug' : 'info' },
    pino.destination({ dest: 2, sync: true }),
  );
  const nodes = createInformer<KubeNode>({
    client,
    resource: NODES,
    clock: systemClock,
    random: Math.random,
    logger,
  });
  const executor =
    options.transport === 'local'
      ? createShellExecutor(createLocalShell(options.localNodes))
      : createShellExecutor(
          createSshShell({
            ...(options.sshConfig === undefined ? {} : { configFile: options.sshConfig }),
            addressOf: (node) => addressOfNode(nodes.get(node)),
          }),
        );
  nodes.start();
  await run({ ...options, executor, logger, clock: systemClock, nodesSynced: nodes.synced });
  await nodes.stop();
  await executor.close();
  logger.info({ reason: String(signal.reason) }, 'stopped');
}

async function run(
  options: WatchOptions & {
    executor: Executor;
    logger: Logger;
    clock: Clock;
    nodesSynced: Promise<void>;
  },
): Promise<void> {
  const { client, executor, clock, logger, workers, retry, signal, transport } = options;
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  // Without the Nodes it is not known where they are reached.
  await Promise.race([options.nodesSynced, stopped]);
  if (signal.aborted) return;
  const controller = startVolumeController({
    client,
    executor,
    actsFor: (node) => transport === 'ssh' || options.localNodes.includes(node),
    clock,
    random: Math.random,
    logger,
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
