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

  gauge('stowage_queue_depth', 'Objects that wait to be reconciled.', (queue) => queue.depth());
  gauge(
    'stowage_queue_oldest_age_seconds',
    'How long the object has waited that waits longest; 0 when none does.',
    (queue) => queue.oldestAgeMs() / 1000,
  );
  counter('stowage_queue_adds_total', 'How often an object was queued.', (queue) => queue.adds());
  counter(
    'stowage_queue_retries_total',
    'How often an object was to be tried again, after a delay that grows.',
    (queue) => queue.retries(),
  );
  return (controller, queue) => {
    queues.set(controller, queue);
  };
}
