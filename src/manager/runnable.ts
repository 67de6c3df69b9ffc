import type { ControllerName } from '../api/controllers.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import type { Reconcile } from '../controllers/volume/action-loop.ts';
import type { Informer, InformerOptions } from '../kube/informer.ts';
import type { WorkQueue } from '../workqueue/work-queue.ts';
import type { ReadinessSource } from './readiness.ts';

/** Makes an informer that metrics tell of; the caller starts it. `transform`: see InformerOptions. */
export type Inform = <T extends KubeObject>(
  resource: Resource,
  transform: (object: T) => T,
  more?: Pick<InformerOptions<T>, 'namespace' | 'labelSelector' | 'fieldSelector'>,
) => Informer<T>;

/** `as`: what metrics call it, where a controller has more than one queue. */
export type Run = (name: ControllerName, queue: WorkQueue, work: Reconcile, as?: string) => void;

/** A part of the daemon, with informers and queues of its own. */
export interface Part {
  /** With the informers that it was given, or right after them. */
  start(): void;
  /** @param after resolves when the work of others has begun */
  begin(after: Promise<unknown>, run: Run): void;
  sources: readonly ReadinessSource[];
  /** What runs is waited for, for `deadlineMs` at most. */
  stop(deadlineMs: number): Promise<void>;
}
