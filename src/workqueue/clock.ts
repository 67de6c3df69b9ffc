import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** Current time in ms since the epoch. */
  now(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of a Node.js timer (ms). A longer one fires after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    sleep(
      Math.min(Math.max(ms, 0), MAX_TIMER_MS),
      undefined,
      signal === undefined ? {} : { signal },
    ),
};
