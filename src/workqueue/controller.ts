import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { WorkQueue } from './work-queue.ts';

/** Results of a reconcile. `requeue-after` has a given delay; `retry` and `error` use backoff. */
export const RECONCILE_RESULTS = ['success', 'requeue-after', 'retry', 'error'] as const;
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number];

export interface ControllerOptions {
  queue: WorkQueue;
  /**
   * Reconciles the object that the key names. An error is logged, and the key requeued with
   * backoff. `retry` also requeues the key with backoff, but logs nothing.
   */
  reconcile: (
    key: string,
    signal: AbortSignal,
  ) => Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
  logger: { error(fields: object, message: string): void };
  clock: Clock;
  /** Wraps the processing of each key, and must call `work`. Allows an async context per key. */
  around?: (work: () => Promise<void>) => Promise<void>;
  /** Called after each reconcile, with its duration in ms. */
  onReconciled?: ((result: ReconcileResult, ms: number) => void) | undefined;
}

export interface Controller {
  /**
   * Takes no more keys, and waits up to `deadlineMs` for keys in progress; then aborts their
   * signal. Resolves to true if all ended in time.
   */
  stop(deadlineMs: number): Promise<boolean>;
}

/**
 * Number of keys taken before timers get a turn. Thousands of reconciles without I/O must not delay
 * the renewal of a Lease.
 */
const KEYS_A_TURN = 50;

/** Reconciles the keys of the queue, as many at once as the queue returns. */
export function runController(options: ControllerOptions): Controller {
  const { queue, reconcile, logger, clock, around = (work) => work(), onReconciled } = options;
  const stopping = new AbortController();
  const overdue = new AbortController();

  async function work(key: string): Promise<void> {
    const started = clock.now();
    const result = await workOnce(key);
    queue.done(key);
    onReconciled?.(result, clock.now() - started);
  }

  async function workOnce(key: string): Promise<ReconcileResult> {
    try {
      const result = await reconcile(key, overdue.signal);
      if (result?.retry) {
        queue.addRateLimited(key);
        return 'retry';
      }
      queue.forget(key);
      if (result?.requeueAfterMs === undefined) return 'success';
      queue.addAfter(key, result.requeueAfterMs);
      return 'requeue-after';
    } catch (err) {
      logger.error({ err, key }, 'reconcile failed');
      queue.addRateLimited(key);
      return 'error';
    }
  }

  async function takeUp(): Promise<true> {
    const working = new Set<Promise<void>>();
    let taken = 0;
    while (!stopping.signal.aborted) {
      const key = await queue.get();
      if (key === undefined) break;
      const done = around(() => work(key)).then(() => {
        working.delete(done);
      });
      working.add(done);
      taken += 1;
      if (taken % KEYS_A_TURN === 0) await nextTurn();
    }
    await Promise.all(working);
    return true;
  }

  const running = takeUp();

  return {
    async stop(deadlineMs) {
      stopping.abort();
      queue.shutDown();
      const timer = new AbortController();
      const late = clock.sleep(deadlineMs, timer.signal).then(
        () => false,
        () => true,
      );
      const inTime = await Promise.race([running, late]);
      timer.abort();
      overdue.abort(new Error('shutting down'));
      return inTime;
    },
  };
}
