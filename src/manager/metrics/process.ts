import { collectDefaultMetrics, type Registry } from 'prom-client';

/** Gauges that are named like counters, which Prometheus' own conventions forbid. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** CPU, memory, files, garbage collection and lag of the event loop, under the names that dashboards know. */
export function processMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
