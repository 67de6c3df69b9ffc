export interface BackoffRange {
  startMs: number;
  maxMs: number;
}

/**
 * Returns the delay (ms) before the next attempt, which doubles from `startMs` up to `maxMs`.
 * Jitter shortens it by up to a fifth, so that keys that failed together do not retry together.
 * `attempt` counts from 0; `random` is in [0, 1).
 */
export function backoffMs(
  attempt: number,
  random: number,
  { startMs, maxMs }: BackoffRange,
): number {
  return Math.min(startMs * 2 ** attempt, maxMs) * (1 - random / 5);
}
