import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from './clock.ts';
import type { WorkQueue } from './work-queue.ts';

/** `requeue-after`: again in a given time. `retry`, `error`: again after a delay that grows each time. */
export const RECONCILE_RESULTS = ['success', 'requeue-after', 'retry', 'error'] as const;
export type ReconcileResult = (typeof RECONCILE_RESULTS)[number];

export interface ControllerOptions {
  queue: WorkQueue;
  /**
   * Brings what the key names closer to what is wanted. What it throws is logged, and the key tried again later; so it
   * is, without a word, for `retry`: after a delay that grows each time.
   */
  reconcile: (
    key: string,
    signal: AbortSignal,
  ) => Promise<{ requeueAfterMs?: number; retry?: true } | undefined>;
  logger: { error(fields: object, message: string): void };
  clock: Clock;
  /** Called with the work on a key, which it carries out: for what is to be known of all that happens within. */
  around?: (work: () => Promise<void>) => Promise<void>;
  /** Told of each reconcile that has ended, and how long it took, in ms. */
  onReconciled?: ((result: ReconcileResult, ms: number) => void) | undefined;
}

export interface Controller {
  /**
   * Takes up no more keys and waits for those worked on: for `deadlineMs`, then their signal is aborted. Resolves to
   * whether all ended in time.
   */
  stop(deadlineMs: number): Promise<boolean>;
}

/**
 * So many keys are taken up before timers have their turn: thousands that need nothing but this processor must not hold up
 * the renewal of a Lease.
 */
const KEYS_A_TURN = 50;

/** Reconciles the keys of the queue, as many at once as it hands out. */
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
