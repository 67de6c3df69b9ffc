import type { ControllerName } from '../api/controllers.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import type { Reconcile } from '../controllers/volume/action-loop.ts';
import type { Informer, InformerOptions } from '../kube/informer.ts';
import type { WorkQueue } from '../workqueue/work-queue.ts';
import type { ReadinessSource } from './readiness.ts';

/**
 * Creates an informer that metrics include; the caller starts it. `transform`: see InformerOptions.
 */
export type Inform = <T extends KubeObject>(
  resource: Resource,
  transform: (object: T) => T,
  more?: Pick<InformerOptions<T>, 'namespace' | 'labelSelector' | 'fieldSelector'>,
) => Informer<T>;

/** `as`: name in metrics, for a controller with more than one queue. */
export type Run = (name: ControllerName, queue: WorkQueue, work: Reconcile, as?: string) => void;

/** A part of the daemon, with its own informers and queues. */
export interface Part {
  /** Starts the part, together with the given informers or right after them. */
  start(): void;
  /** @param after resolves when the Volume controller has begun */
  begin(after: Promise<unknown>, run: Run): void;
  sources: readonly ReadinessSource[];
  /** Stops the part, waiting for running work at most `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}
