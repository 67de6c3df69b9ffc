import type { Clock } from './clock.ts';

/** Keys that wait for their time. */
export interface Delays {
  /** Hands out the key in `ms`, or up to 50 ms later, unless it is to be sooner already. */
  add(key: string, ms: number): void;
  /** Drops all. */
  clear(): void;
}

/**
 * What is due within so many ms is handed out at once: a timer for each of ten thousand keys weighs more than they do. One that no
 * key waits for any more ends by itself, for to give it up costs more.
 */
const GRAIN = 50;

export function createDelays(clock: Clock, due: (key: string) => void): Delays {
  /** When each key is due, in ms since the epoch. */
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
