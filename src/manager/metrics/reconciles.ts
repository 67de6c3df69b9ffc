import { Counter, Histogram, type Registry } from 'prom-client';
import { RECONCILE_RESULTS, type ReconcileResult } from '../../workqueue/controller.ts';

/**
 * Registers reconcile metrics, and returns a function that adds a controller, which returns one to
 * call after each reconcile.
 */
export function reconcileMetrics(
  registry: Registry,
): (controller: string) => (result: ReconcileResult, ms: number) => void {
  const total = new Counter({
    registers: [registry],
    name: 'stowage_reconciles_total',
    help: 'Reconciles that ended, by result: success, requeue-after (again after a given delay), retry or error (again after an increasing delay).',
    labelNames: ['controller', 'result'] as const,
  });
  const seconds = new Histogram({
    registers: [registry],
    name: 'stowage_reconcile_duration_seconds',
    help: 'Duration of reconciles, including waits for nodes and the API server.',
    labelNames: ['controller'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  return (controller) => {
    for (const result of RECONCILE_RESULTS) total.inc({ controller, result }, 0);
    seconds.zero({ controller });
    return (result, ms) => {
      total.inc({ controller, result });
      seconds.observe({ controller }, ms / 1000);
    };
  };
}
