import type { Clock } from '../../kube/types.ts';
import type { Outbox } from './outbox.ts';

/** Minimum time (ms) between batches of changes. */
export const BATCH_MS = 100;
/** Maximum rows of one write. */
export const CHUNK = 500;

export interface Sink {
  /** Returns false if the reader is slower than that: then wait for `drained`. */
  write(text: string): boolean;
  /** Rejects when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
}

/**
 * Sends an outbox to a reader until the signal aborts. Holds at most one chunk that the reader has
 * not taken.
 * @param changed resolves once the outbox is not empty
 */
export async function pump(
  outbox: Outbox,
  sink: Sink,
  changed: (signal: AbortSignal) => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!signal.aborted) {
      await changed(signal);
      while (!outbox.isEmpty()) {
        if (!sink.write(outbox.take(CHUNK))) await sink.drained(signal);
      }
      await clock.sleep(BATCH_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
