import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /**
   * Time of this process, in ms, which never steps: for intervals, backoffs and deadlines. It
   * begins at the time of day, and drifts from it once that is set.
   */
  now(): number;
  /**
   * Time of day, in ms since the epoch, which anyone may set: only for times in objects and output,
   * and to compare with these.
   */
  timeOfDay(): number;
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay of a Node.js timer (ms). A longer one fires after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  timeOfDay: () => Date.now(),
  sleep: (ms, signal) =>
    sleep(
      Math.min(Math.max(ms, 0), MAX_TIMER_MS),
      undefined,
      signal === undefined ? {} : { signal },
    ),
};

/** Moment by both times of a clock. */
export interface Moment {
  now: number;
  timeOfDay: number;
}

export const momentOf = (clock: Pick<Clock, 'now' | 'timeOfDay'>): Moment => ({
  now: clock.now(),
  timeOfDay: clock.timeOfDay(),
});

/**
 * Returns the longest time (ms) that may have passed since a moment, for what must end in time. The
 * time of the process stands still while the machine sleeps, and the time of day may be set back.
 */
export const longestSince = (moment: Moment, clock: Pick<Clock, 'now' | 'timeOfDay'>): number =>
  Math.max(clock.now() - moment.now, clock.timeOfDay() - moment.timeOfDay);

/** Returns the time of day, in ms since the epoch, of a time of the process. */
export const timeOfDayAt = (at: number, clock: Pick<Clock, 'now' | 'timeOfDay'>): number =>
  at + clock.timeOfDay() - clock.now();

/**
 * Returns the time of the process for a time in an object; undefined without one. A time in the
 * future, by a clock that was set back or another machine's, counts as now.
 */
export function processTimeOf(
  time: string | undefined,
  clock: Pick<Clock, 'now' | 'timeOfDay'>,
): number | undefined {
  const age = clock.timeOfDay() - Date.parse(time ?? '');
  return Number.isNaN(age) ? undefined : clock.now() - Math.max(0, age);
}
