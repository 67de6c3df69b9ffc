import type { Clock } from './clock.ts';

/** Keys that wait for their time. */
export interface Delays {
  /** Hands out the key in `ms`, or up to 50 ms later, unless it is to be sooner already. */
  add(key: string, ms: number): void;
  /** Drops all. */
  clear(): void;
}

/** What is due within so many ms is handed out at once: a timer for each of ten thousand keys weighs more than they do. */
const GRAIN = 50;

export function createDelays(clock: Clock, due: (key: string) => void): Delays {
  /** When each key is due, in ms since the epoch. */
  const times = new Map<string, number>();
  const moments = new Map<number, Set<string>>();
  /** For the soonest moment, or one before it that nothing waits for any more: to give up a timer costs more than to let it end. */
  let timer: { at: number; cancel: AbortController } | undefined;

  /** Unless one is set that ends before. */
  function setTimer(at: number): void {
    if (timer !== undefined && timer.at <= at) return;
    timer?.cancel.abort();
    const cancel = new AbortController();
    timer = { at, cancel };
    clock.sleep(at - clock.now(), cancel.signal).then(
      () => {
        timer = undefined;
        const keys = moments.get(at);
        moments.delete(at);
        for (const key of keys ?? []) {
          times.delete(key);
          due(key);
        }
        if (moments.size > 0) setTimer([...moments.keys()].reduce((a, b) => Math.min(a, b)));
      },
      () => {},
    );
  }

  function drop(key: string, at: number): void {
    const keys = moments.get(at);
    keys?.delete(key);
    if (keys?.size === 0) moments.delete(at);
  }

  return {
    add(key, ms) {
      const at = Math.ceil((clock.now() + ms) / GRAIN) * GRAIN;
      const known = times.get(key);
      if (known !== undefined && known <= at) return;
      if (known !== undefined) drop(key, known);
      times.set(key, at);
      const keys = moments.get(at) ?? new Set();
      moments.set(at, keys.add(key));
      setTimer(at);
    },
    clear() {
      timer?.cancel.abort();
      timer = undefined;
      moments.clear();
      times.clear();
    },
  };
}
