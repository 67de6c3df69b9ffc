import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/workqueue/clock.ts';

interface Sleeper {
  at: number;
  wake(): void;
}

/** Clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  /** Lead of the time of day. */
  #lead = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  timeOfDay(): number {
    return this.#now + this.#lead;
  }

  /** Sets the time of day forward, or back if `ms` is negative. No time passes. */
  set(ms: number): void {
    this.#lead += ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = { at: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      });
    });
  }

  /** Remaining times of the sleepers (ms), in ascending order. */
  get sleeping(): number[] {
    return this.#sleepers.map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /**
   * Advances the clock and wakes sleepers in order. Each can continue, and sleep again, before the
   * next.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turn();
      const next = this.#sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#sleepers = this.#sleepers.filter((other) => other !== next);
      next.wake();
    }
    this.#now = end;
  }
}

/**
 * Lets the event loop run until a condition holds, for data over a socket. Throws after 60 s, when
 * no test still waits.
 */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`it never held: ${holds}`);
    await turn();
  }
}
