export interface BackoffRange {
  startMs: number;
  maxMs: number;
}

/**
 * How long to wait, in ms, before trying again: doubling from `startMs` to `maxMs`, less up to a fifth, so that what
 * failed together is not tried together. `attempt` counts from 0; `random` is in [0, 1).
 */
export function backoffMs(
  attempt: number,
  random: number,
  { startMs, maxMs }: BackoffRange,
): number {
  return Math.min(startMs * 2 ** attempt, maxMs) * (1 - random / 5);
}
