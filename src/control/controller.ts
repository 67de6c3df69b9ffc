import type { Clock } from './clock.ts';
import type { WorkQueue } from './work-queue.ts';

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
}

export interface Controller {
  /**
   * Takes up no more keys and waits for those worked on: for `deadlineMs`, then their signal is aborted. Resolves to
   * whether all ended in time.
   */
  stop(deadlineMs: number): Promise<boolean>;
}

/** Reconciles the keys of the queue, as many at once as it hands out. */
export function runController({
  queue,
  reconcile,
  logger,
  clock,
  around = (work) => work(),
}: ControllerOptions): Controller {
  const stopping = new AbortController();
  const overdue = new AbortController();

  async function work(key: string): Promise<void> {
    try {
      const result = await reconcile(key, overdue.signal);
      if (result?.retry) {
        queue.addRateLimited(key);
        return;
      }
      queue.forget(key);
      if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
    } catch (err) {
      logger.error({ err, key }, 'reconcile failed');
      queue.addRateLimited(key);
    } finally {
      queue.done(key);
    }
  }

  async function takeUp(): Promise<true> {
    const working = new Set<Promise<void>>();
    while (!stopping.signal.aborted) {
      const key = await queue.get();
      if (key === undefined) break;
      const done = around(() => work(key)).then(() => {
        working.delete(done);
      });
      working.add(done);
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
