import { Counter, Histogram, type Registry } from 'prom-client';
import type { ApiCall } from '../../kube/transport.ts';

/** Registers metrics of API requests, and returns a function to call on each response. */
export function apiCallMetrics(registry: Registry): (call: ApiCall) => void {
  const total = new Counter({
    registers: [registry],
    name: 'stowage_api_calls_total',
    help: 'Requests to the API server, by verb, resource and HTTP status; the code is "none" without a response.',
    labelNames: ['verb', 'resource', 'code'] as const,
  });
  const seconds = new Histogram({
    registers: [registry],
    name: 'stowage_api_call_duration_seconds',
    help: 'Time until the API server began to respond to a request.',
    labelNames: ['verb', 'resource'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  return ({ verb, resource, code, ms }) => {
    total.inc({ verb, resource, code: code === undefined ? 'none' : String(code) });
    seconds.observe({ verb, resource }, ms / 1000);
  };
}
