import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges with names of counters, against Prometheus' conventions. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * Registers metrics of CPU, memory, files, garbage collection and event loop lag, under the names
 * that dashboards expect.
 */
export function processMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
