import { type BackoffRange, backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  /** Default: 1 s to 5 min. */
  retry?: BackoffRange;
}

/**
 * Keys to work on, as client-go's workqueue: a key is queued once however often it is added, and worked on by one
 * worker at a time; when it is added meanwhile, it is queued again after that.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Adds the key in `ms`, unless it is to be added sooner already. */
  addAfter(key: string, ms: number): void;
  /** Adds the key after a delay that doubles with each call, until `forget`. */
  addRateLimited(key: string): void;
  /** The key's next failure is its first again. */
  forget(key: string): void;
  /** Waits for a key. Whoever got it calls `done`. undefined after a shutdown, once all queued ones were handed out. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Nothing is taken in any more, and what waits for its time is dropped. */
  shutDown(): void;
  /** How many keys are queued: neither those worked on, nor those that wait for their time. */
  depth(): number;
  /** For how long the first queued key has been waiting for a worker, in ms; 0 when there is none. */
  oldestAgeMs(): number;
  /** How often keys were added rate-limited, in all. */
  retries(): number;
}

export function createWorkQueue({
  clock,
  random,
  retry = { startMs: 1000, maxMs: 5 * 60_000 },
}: WorkQueueOptions): WorkQueue {
  /** When each was queued, in that order. */
  const queued = new Map<string, number>();
  const active = new Set<string>();
  const addedWhileActive = new Set<string>();
  const delayed = new Map<string, { at: number; cancel: AbortController }>();
  const failures = new Map<string, number>();
  const idle: ((key: string | undefined) => void)[] = [];
  let retries = 0;
  let shut = false;

  function add(key: string): void {
    if (shut || queued.has(key)) return;
    if (active.has(key)) {
      addedWhileActive.add(key);
      return;
    }
    const worker = idle.shift();
    if (worker === undefined) {
      queued.set(key, clock.now());
    } else {
      active.add(key);
      worker(key);
    }
  }

  function addAfter(key: string, ms: number): void {
    if (shut) return;
    const at = clock.now() + ms;
    const sooner = delayed.get(key);
    if (sooner !== undefined && sooner.at <= at) return;
    sooner?.cancel.abort();
    const cancel = new AbortController();
    delayed.set(key, { at, cancel });
    clock.sleep(ms, cancel.signal).then(
      () => {
        delayed.delete(key);
        add(key);
      },
      () => {},
    );
  }

  return {
    add,
    addAfter,
    addRateLimited(key) {
      const attempt = failures.get(key) ?? 0;
      failures.set(key, attempt + 1);
      retries += 1;
      addAfter(key, backoffMs(attempt, random(), retry));
    },
    forget: (key) => {
      failures.delete(key);
    },
    async get() {
      for (const key of queued.keys()) {
        queued.delete(key);
        active.add(key);
        return key;
      }
      if (shut) return undefined;
      return new Promise((resolve) => idle.push(resolve));
    },
    done(key) {
      active.delete(key);
      if (addedWhileActive.delete(key)) add(key);
    },
    shutDown() {
      shut = true;
      for (const { cancel } of delayed.values()) cancel.abort();
      delayed.clear();
      for (const worker of idle.splice(0)) worker(undefined);
    },
    depth: () => queued.size,
    oldestAgeMs() {
      for (const since of queued.values()) return clock.now() - since;
      return 0;
    },
    retries: () => retries,
  };
}
