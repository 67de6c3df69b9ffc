import { selectControllers } from '../../src/api/controllers.ts';
import type { KubeNode } from '../../src/api/core.ts';
import { NODES } from '../../src/api/resources.ts';
import { createInformer, type Informer } from '../../src/kube/informer.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import {
  type AttachmentOptions,
  DEFAULT_ATTACHMENT,
} from '../../src/manager/attachment-controller.ts';
import { transforms } from '../../src/manager/cache-transforms.ts';
import { startControllers } from '../../src/manager/manager.ts';
import type { Metrics } from '../../src/manager/metrics/metrics.ts';
import type { ProvisioningOptions } from '../../src/manager/provisioning.ts';
import { NodeError } from '../../src/nodes/errors.ts';
import type { Executor } from '../../src/nodes/job.ts';
import type { BackoffRange } from '../../src/workqueue/backoff.ts';
import { observeWork, type TestClock } from './idle.ts';
import { type Line, memoryLogger } from './logger.ts';

export interface TestController {
  nodes: Informer<KubeNode>;
  /** Requests to unreachable nodes, as `method node`. */
  asked: string[];
  lines: readonly Line[];
  /**
   * Waits until the caches are up to date and all objects are reconciled. Jobs on nodes may still
   * run.
   */
  caughtUp(): Promise<true>;
  /** Waits until no work is left, and none is due within `soonMs`. */
  idle(soonMs?: number): Promise<true>;
  stop(): Promise<void>;
}

export interface TestControllerOptions {
  /** Default: no node ever answers. */
  executor?: Executor;
  metrics?: Metrics;
  /** Default: longer than any test. A prompt retry shows that an event triggered it. */
  retry?: BackoffRange;
  /** Options of the attach/detach controller; false disables it. Default: enabled. */
  attachment?: boolean | AttachmentOptions;
  provisioning?: ProvisioningOptions;
  /** Value of `--controllers`. Default: all. */
  controllers?: string;
  /** Default: the standard directory. */
  kubeletRoot?: string;
  /** Default: the system clock. */
  clock?: TestClock;
}

/** Starts the daemon's controllers in this process. They manage every node but `foreign`. */
export async function startController(
  client: KubeClient,
  {
    executor,
    metrics,
    retry = { startMs: 600_000, maxMs: 600_000 },
    attachment = true,
    provisioning = {},
    controllers = '*',
    kubeletRoot,
    clock,
  }: TestControllerOptions = {},
): Promise<TestController> {
  const asked: string[] = [];
  const away = (method: string) => async (node: string) => {
    asked.push(`${method} ${node}`);
    throw new NodeError('unreachable', node, `node ${node} is away`);
  };
  const awayNodes: Executor = {
    observe: away('observe'),
    submit: away('submit'),
    poll: away('poll'),
    purge: away('forget'),
    subjects: away('subjects'),
    close: async () => {},
  };
  const logger = memoryLogger();
  const work = observeWork(client, executor ?? awayNodes, clock);
  const common = { client: work.client, clock: work.clock, random: () => 0, logger };
  const nodes = createInformer<KubeNode>({
    ...common,
    resource: NODES,
    transform: transforms.nodes,
  });
  metrics?.addInformer(NODES, nodes);
  nodes.start();
  const controller = startControllers({
    ...common,
    ...provisioning,
    nodes,
    begin: nodes.synced,
    executor: work.executor,
    around: work.around,
    metrics,
    managesNode: (node) => node !== 'foreign',
    host: 'test',
    enabled: selectControllers(controllers),
    workers: 2,
    ...(kubeletRoot === undefined ? {} : { kubeletRoot }),
    retry,
    attachment: attachment === true ? DEFAULT_ATTACHMENT : attachment || undefined,
  });
  await controller.started;
  return {
    nodes,
    asked,
    lines: logger.lines,
    caughtUp: work.caughtUp,
    idle: work.idle,
    async stop() {
      await controller.stop(5000, 5000);
      await nodes.stop();
    },
  };
}
