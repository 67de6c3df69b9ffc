import { type BackoffRange, backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';
import { createDelays } from './delaying-queue.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  /** Default: 1 s to 5 min. */
  retry?: BackoffRange;
  /** What a key belongs to (a node): the keys of a group that gets stuck hold up no other group. */
  groupOf(key: string): string;
  /** How many keys of a group are worked on at once. A function is asked each time. */
  perGroup: number | (() => number);
}

interface Group {
  /** When each key was queued, in that order. */
  queued: Map<string, number>;
  active: number;
}

/**
 * Keys to work on, as client-go's workqueue: a key is queued once however often it is added, and worked on once at a
 * time; when it is added meanwhile, it is queued again after that. Groups take turns.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Adds the key in `ms` (rounded up to 50), unless it is to be added sooner already. */
  addAfter(key: string, ms: number): void;
  /** Adds the key after a delay that doubles with each call, until `forget`. */
  addRateLimited(key: string): void;
  /** The key's next failure is its first again. */
  forget(key: string): void;
  /** Waits for a key that may be worked on. Whoever got it calls `done`. undefined after a shutdown, once all that may be were handed out. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Nothing is taken in any more, and what waits for its time is dropped. */
  shutDown(): void;
  /** How many keys are queued: neither those worked on, nor those that wait for their time. */
  depth(): number;
  /** For how long the key has been waiting that was queued first, in ms; 0 when there is none. */
  oldestAgeMs(): number;
  /** How often keys were queued, in all; a key that is queued already is not queued again. */
  adds(): number;
  /** How often keys were added rate-limited, in all. */
  retries(): number;
}

export function createWorkQueue({
  clock,
  random,
  retry = { startMs: 1000, maxMs: 5 * 60_000 },
  groupOf,
  perGroup,
}: WorkQueueOptions): WorkQueue {
  /** Those with a key that is queued or worked on; whose turn it is, first. */
  const groups = new Map<string, Group>();
  /** The group of each key that is queued. It may belong to another one the next time. */
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
    handOut();
  }

  /** The next key that may be worked on. */
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

  function handOut(): void {
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
      handOut();
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
