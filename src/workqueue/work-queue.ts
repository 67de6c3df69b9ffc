import { type BackoffRange, backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';
import { createDelays } from './delaying-queue.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** Source of jitter, in [0, 1). */
  random: () => number;
  /** Default: 1 s to 5 min. */
  retry?: BackoffRange;
  /** Returns the group of a key, such as its node. A stuck group does not hold up other groups. */
  groupOf(key: string): string;
  /** Maximum number of keys of one group in progress. A function is called each time. */
  perGroup: number | (() => number);
}

interface Group {
  /** Time of queueing per key (by `now` of the clock), in queue order. */
  queued: Map<string, number>;
  active: number;
}

/**
 * Queue of keys with the semantics of client-go's workqueue. A key is queued once however often it
 * is added, and is processed by one worker at a time. A key added while in progress is queued again
 * afterwards. Groups take turns.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Adds the key after `ms`, up to 50 ms late, unless the key is already due sooner. */
  addAfter(key: string, ms: number): void;
  /** Adds the key after a delay that doubles with each call, until `forget`. */
  addRateLimited(key: string): void;
  /** Resets the key's backoff. */
  forget(key: string): void;
  /**
   * Waits for the next key to process; the caller must call `done` for it. Resolves to undefined
   * after a shutdown, once no such key is left.
   */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Ignores keys added from now on, and drops delayed keys. */
  shutDown(): void;
  /** Number of queued keys, without keys in progress and delayed keys. */
  depth(): number;
  /** Age of the oldest queued key in ms; 0 if none is queued. */
  oldestAgeMs(): number;
  /** Total number of times that keys were queued. Adding a queued key does not count. */
  adds(): number;
  /** Total number of rate-limited adds. */
  retries(): number;
}

export function createWorkQueue({
  clock,
  random,
  retry = { startMs: 1000, maxMs: 5 * 60_000 },
  groupOf,
  perGroup,
}: WorkQueueOptions): WorkQueue {
  /** Groups with queued or active keys, the next in turn first. */
  const groups = new Map<string, Group>();
  /** Group of each queued key. A key may belong to another group the next time. */
  const queued = new Map<string, string>();
  const active = new Map<string, string>();
  const addedWhileActive = new Set<string>();
  const delays = createDelays(clock, add);
  const failures = new Map<string, number>();
  const idle: ((key: string | undefined) => void)[] = [];
  let adds = 0;
  let retries = 0;
  let shut = false;

  function add(key: string): void {
    if (shut || queued.has(key)) return;
    if (active.has(key)) {
      addedWhileActive.add(key);
      return;
    }
    const name = groupOf(key);
    const group = groups.get(name) ?? { queued: new Map(), active: 0 };
    groups.set(name, group);
    group.queued.set(key, clock.now());
    queued.set(key, name);
    adds += 1;
    dispatch();
  }

  /** Returns the next key to process, and marks it active. */
  function take(): string | undefined {
    const limit = typeof perGroup === 'number' ? perGroup : perGroup();
    for (const [name, group] of groups) {
      if (group.active >= limit) continue;
      for (const key of group.queued.keys()) {
        group.queued.delete(key);
        queued.delete(key);
        group.active++;
        active.set(key, name);
        groups.delete(name);
        groups.set(name, group);
        return key;
      }
    }
    return undefined;
  }

  function dispatch(): void {
    while (idle.length > 0) {
      const key = take();
      if (key === undefined) return;
      idle.shift()?.(key);
    }
  }

  function addAfter(key: string, ms: number): void {
    if (!shut) delays.add(key, ms);
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
      const key = take();
      if (key !== undefined || shut) return key;
      return new Promise((resolve) => idle.push(resolve));
    },
    done(key) {
      const name = active.get(key) ?? '';
      const group = groups.get(name);
      active.delete(key);
      if (group !== undefined) {
        group.active--;
        if (group.active === 0 && group.queued.size === 0) groups.delete(name);
      }
      if (addedWhileActive.delete(key)) add(key);
      dispatch();
    },
    shutDown() {
      shut = true;
      delays.clear();
      for (const waiting of idle.splice(0)) waiting(undefined);
    },
    depth: () => queued.size,
    oldestAgeMs() {
      const first = [...groups.values()].flatMap((group) => [...group.queued.values()].slice(0, 1));
      return first.length === 0 ? 0 : clock.now() - Math.min(...first);
    },
    adds: () => adds,
    retries: () => retries,
  };
}
