import type { Mutation } from './mutation.ts';
import type { Result, Results } from './results.ts';
import { type TryDeps, tryIntegrationTests, tryUnitTests, type Verdict } from './try-mutation.ts';
import { createWorkingCopy } from './working-copy.ts';

/** A mutation of this run, and its result so far. */
export interface Row {
  mutation: Mutation;
  result: Result | undefined;
}

/** Number of mutations whose unit tests run concurrently: each keeps one processor busy. */
const AT_ONCE = 2;

interface CampaignDeps {
  results: Results;
  log(line: string): void;
  /**
   * Aborted by an interrupt: unit tests end at once, but an integration test runs to its end, as it
   * cleans up after itself.
   */
  stop: AbortSignal;
  /** Aborted by a second interrupt. */
  kill: AbortSignal;
  /** The only test file that runs. Default: the files that reach the mutated file. */
  test?: string | undefined;
}

/**
 * Tries all mutations without a result: first by unit tests, concurrently, then by integration
 * tests, in sequence.
 */
export async function runCampaign(
  rows: readonly Row[],
  { results, log, stop, kill, test }: CampaignDeps,
): Promise<void> {
  const controls: TryDeps['controls'] = new Map();

  async function work(
    due: Row[],
    attempt: typeof tryUnitTests,
    signal: AbortSignal,
  ): Promise<void> {
    if (due.length === 0) return;
    const copy = await createWorkingCopy();
    try {
      for (let row = due.shift(); row !== undefined && !stop.aborted; row = due.shift()) {
        const began = Date.now();
        const verdict = await attempt(row.mutation, { copy, signal, controls, test });
        const seconds = (row.result?.seconds ?? 0) + Math.round((Date.now() - began) / 1000);
        row.result = await results.add(row.mutation, verdict, seconds);
        log(`${row.mutation.id}: ${describe(verdict)} (${seconds} s)`);
      }
    } finally {
      await copy.remove();
    }
  }

  const due = rows.filter(({ result }) => result === undefined);
  // Waits for all workers, so that each has removed its copy.
  const ends = await Promise.allSettled(
    Array.from({ length: AT_ONCE }, () => work(due, tryUnitTests, stop)),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  const pending = rows.filter(({ result }) => result?.verdict.is === 'pending');
  if (!stop.aborted) await work(pending, tryIntegrationTests, kill);
}

function describe(verdict: Verdict): string {
  switch (verdict.is) {
    case 'killed':
      return `killed by ${verdict.by}`;
    case 'error':
      return `error: ${verdict.message}`;
    case 'pending':
      return 'no unit test fails';
    case 'survived':
      return 'survived';
  }
}
