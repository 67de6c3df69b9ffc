import { Counter, Gauge, type Registry } from 'prom-client';
import type { WorkQueue } from '../../workqueue/work-queue.ts';

/**
 * Registers queue metrics, and returns a function that adds a queue. Queues count by themselves,
 * and are read at each scrape.
 */
export function queueMetrics(registry: Registry): (controller: string, queue: WorkQueue) => void {
  const queues = new Map<string, WorkQueue>();
  const common = { registers: [registry], labelNames: ['controller'] as const };

  function gauge(name: string, help: string, read: (queue: WorkQueue) => number): void {
    new Gauge({
      ...common,
      name,
      help,
      collect() {
        for (const [controller, queue] of queues) this.set({ controller }, read(queue));
      },
    });
  }
  function counter(name: string, help: string, read: (queue: WorkQueue) => number): void {
    new Counter({
      ...common,
      name,
      help,
      collect() {
        this.reset();
        for (const [controller, queue] of queues) this.inc({ controller }, read(queue));
      },
    });
  }

  gauge('stowage_queue_depth', 'Objects waiting to be reconciled.', (queue) => queue.depth());
  gauge(
    'stowage_queue_oldest_age_seconds',
    'Wait time of the object that has waited longest; 0 if none waits.',
    (queue) => queue.oldestAgeMs() / 1000,
  );
  counter('stowage_queue_adds_total', 'Objects added to the queue.', (queue) => queue.adds());
  counter(
    'stowage_queue_retries_total',
    'Retries of objects, after an increasing delay.',
    (queue) => queue.retries(),
  );
  return (controller, queue) => {
    queues.set(controller, queue);
  };
}
