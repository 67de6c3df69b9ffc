import { test } from '@jest/globals';
import fc from 'fast-check';
import { TARGETS } from './targets.ts';

/**
 * Declares a test for each target; the targets share the runs. A failure prints the seed, the path
 * and the smallest input.
 */
export function fuzz(runs: number, seed: number): void {
  test.each(TARGETS)(`$name (seed ${seed})`, async ({ share, property, after }) => {
    const numRuns = Math.max(1, Math.round(runs * share));
    await fc.assert(property() as fc.IAsyncProperty<unknown>, { seed, numRuns });
    after?.();
  });
}
