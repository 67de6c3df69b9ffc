import { Counter, Histogram, type Registry } from 'prom-client';
import { kindOfKey } from '../../model/job-name.ts';
import type { JobEnd } from '../../nodes/job-observer.ts';
import { label } from './label.ts';

/** Registers metrics of jobs on nodes, and returns a function to call at the end of each job. */
export function jobMetrics(
  registry: Registry,
  transportOf: (node: string) => string,
): (end: JobEnd) => void {
  const total = new Counter({
    registers: [registry],
    name: 'stowage_jobs_total',
    help: 'Jobs on nodes that ended, by result: succeeded, failed, raced (another process was faster, or killed the program), guarded (the node was not as planned), died (without a result) or lost (the node no longer has it).',
    labelNames: ['kind', 'transport', 'result'] as const,
  });
  const seconds = new Histogram({
    registers: [registry],
    name: 'stowage_job_duration_seconds',
    help: 'Time from the submission of a job until its end was observed.',
    labelNames: ['kind', 'transport'] as const,
    // A wipe may take hours.
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200],
  });
  return ({ node, key, result, ms }) => {
    const kind = kindOfKey(key) ?? 'other';
    const transport = label(transportOf(node));
    total.inc({ kind, transport, result });
    if (ms !== undefined) seconds.observe({ kind, transport }, ms / 1000);
  };
}
