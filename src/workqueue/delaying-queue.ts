import type { Clock } from './clock.ts';

/** Keys that become due later. */
export interface Delays {
  /** Passes the key to `due` after `ms`, up to 50 ms late, unless the key is already due sooner. */
  add(key: string, ms: number): void;
  clear(): void;
}

/**
 * Granularity of due times (ms). Keys due in the same interval share a timer, since ten thousand
 * timers cost more than their keys. A timer without keys expires by itself; canceling it costs
 * more.
 */
const GRAIN = 50;

export function createDelays(clock: Clock, due: (key: string) => void): Delays {
  /** Due time per key, by `now` of the clock. */
  const times = new Map<string, number>();
  const moments = new Map<number, { keys: Set<string>; cancel: AbortController }>();

  function momentAt(at: number): Set<string> {
    const known = moments.get(at);
    if (known !== undefined) return known.keys;
    const keys = new Set<string>();
    const cancel = new AbortController();
    moments.set(at, { keys, cancel });
    clock.sleep(at - clock.now(), cancel.signal).then(
      () => {
        moments.delete(at);
        for (const key of keys) {
          times.delete(key);
          due(key);
        }
      },
      () => {},
    );
    return keys;
  }

  return {
    add(key, ms) {
      const at = Math.ceil((clock.now() + ms) / GRAIN) * GRAIN;
      const known = times.get(key);
      if (known !== undefined && known <= at) return;
      if (known !== undefined) moments.get(known)?.keys.delete(key);
      times.set(key, at);
      momentAt(at).add(key);
    },
    clear() {
      for (const { cancel } of moments.values()) cancel.abort();
      moments.clear();
      times.clear();
    },
  };
}
