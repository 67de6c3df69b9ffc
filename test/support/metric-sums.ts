import { expect } from '@jest/globals';
import type { Sample } from './exposition.ts';

/** Returns the sum of all series of that name with these labels. */
export function sumOf(
  samples: readonly Sample[],
  name: string,
  of: Record<string, string> = {},
): number {
  const wanted = Object.entries(of);
  return samples
    .filter(
      (sample) =>
        sample.name === name && wanted.every(([label, is]) => sample.labels[label] === is),
    )
    .reduce((total, { value }) => total + value, 0);
}

/**
 * Numbers of sparse Volumes that were provisioned, failed and expanded, all over ssh. The
 * provisioned ones are deleted.
 */
export interface Done {
  made: number;
  failed: number;
  grown: number;
}

/** Expects that a scrape at rest reports exactly these numbers, consistently in all series. */
export function expectDone(samples: readonly Sample[], { made, failed, grown }: Done): void {
  const sum = (name: string, of?: Record<string, string>) => sumOf(samples, name, of);
  const jobs = (kind: string, result: string) =>
    sum('stowage_jobs_total', { kind, transport: 'ssh', result });
  expect({
    made: jobs('PrepareVolume', 'succeeded'),
    failed: jobs('PrepareVolume', 'failed'),
    grown: jobs('GrowVolume', 'succeeded'),
  }).toEqual({ made, failed, grown });
  expect(jobs('UnprepareVolume', 'succeeded')).toBeGreaterThanOrEqual(made);
  for (const [total, duration] of [
    ['stowage_reconciles_total', 'stowage_reconcile_duration_seconds'],
    ['stowage_jobs_total', 'stowage_job_duration_seconds'],
  ] as const) {
    expect(sum(`${duration}_count`)).toBe(sum(total));
    expect(sum(`${duration}_sum`) / sum(total)).toBeLessThan(10);
  }
  const retried =
    sum('stowage_reconciles_total', { result: 'retry' }) +
    sum('stowage_reconciles_total', { result: 'error' });
  expect(sum('stowage_queue_retries_total')).toBe(retried);
}
