import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { KubeClient, ListOptions, SelectOptions, WatchOptions } from '../../src/kube/types.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { type Clock, systemClock } from '../../src/workqueue/clock.ts';
import { until } from './until.ts';

/**
 * Limit (ms) below which a sleep only batches work (queues round up to 50). Longer sleeps are
 * retries, resyncs and deadlines.
 */
const SOON = 60;

/**
 * Versions of the objects that a watch delivered and its informer has handled, by namespace and
 * name.
 */
interface Cache {
  resource: Resource;
  select: SelectOptions;
  /** Set by a watch. Objects that were only listed are not followed. */
  watched: boolean;
  versions: Map<string, string>;
}

/** Clock whose sleeps of at least `neverFromMs` never end. */
export type TestClock = Clock & { neverFromMs?: number };

const idOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const selected = ({ namespace, labelSelector, fieldSelector }: SelectOptions): SelectOptions => ({
  ...{ namespace, labelSelector, fieldSelector },
});

/**
 * Wraps the client, executor and clock of controllers, and detects when the controllers are idle. A
 * test that expects no action waits for that instead of for a fixed time.
 */
export function observeWork(
  real: KubeClient,
  realExecutor: Executor,
  realClock: TestClock = systemClock,
) {
  const caches = new Map<string, Cache>();
  const sleeps = new Set<{ until: number }>();
  /** Running reconciles, and running requests to the API server and to nodes. */
  const running = { reconciles: 0, requests: 0 };
  let begun = 0;

  async function counted<T>(what: keyof typeof running, work: () => Promise<T>): Promise<T> {
    running[what] += 1;
    begun += 1;
    try {
      return await work();
    } finally {
      running[what] -= 1;
    }
  }
  const request = <T>(send: () => Promise<T>): Promise<T> => counted('requests', send);

  function cacheOf(resource: Resource, options: SelectOptions): Cache {
    const select = selected(options);
    const id = JSON.stringify([resource.plural, select]);
    const cache = caches.get(id) ?? { resource, select, watched: false, versions: new Map() };
    caches.set(id, cache);
    return cache;
  }

  const client = {
    ...real,
    get: (...args: Parameters<KubeClient['get']>) => request(() => real.get(...args)),
    create: (...args: Parameters<KubeClient['create']>) => request(() => real.create(...args)),
    patch: (...args: Parameters<KubeClient['patch']>) => request(() => real.patch(...args)),
    delete: (...args: Parameters<KubeClient['delete']>) => request(() => real.delete(...args)),
    async list(resource: Resource, options: ListOptions = {}) {
      const page = await request(() => real.list(resource, options));
      // A request for a single object only checks whether the kind is served.
      if (options.limit !== 1) {
        const { versions } = cacheOf(resource, options);
        if (options.continue === undefined) versions.clear();
        for (const item of page.items)
          versions.set(idOf(item), item.metadata.resourceVersion ?? '');
      }
      return page;
    },
    async *watch(resource: Resource, options: WatchOptions) {
      const cache = cacheOf(resource, options);
      cache.watched = true;
      const { versions } = cache;
      for await (const event of real.watch(resource, options)) {
        const id = idOf(event.object);
        const { resourceVersion = '' } = event.object.metadata;
        // The informer requests the next event after it has handled this one.
        yield event;
        if (event.type === 'DELETED') versions.delete(id);
        else if (event.type !== 'BOOKMARK') versions.set(id, resourceVersion);
      }
    },
  } as KubeClient;

  // Methods are resolved at each call: tests replace some.
  const executor: Executor = {
    ...realExecutor,
    poll: (...args) => realExecutor.poll(...args),
    observe: (...args) => request(() => realExecutor.observe(...args)),
    submit: (...args) => request(() => realExecutor.submit(...args)),
    purge: (...args) => request(() => realExecutor.purge(...args)),
  };

  const clock: Clock = {
    now: realClock.now,
    timeOfDay: realClock.timeOfDay,
    async sleep(ms, signal) {
      const isEndless = ms >= (realClock.neverFromMs ?? Number.POSITIVE_INFINITY);
      const sleep = { until: isEndless ? Number.POSITIVE_INFINITY : Date.now() + ms };
      sleeps.add(sleep);
      try {
        await realClock.sleep(ms, signal);
      } finally {
        sleeps.delete(sleep);
      }
    },
  };

  async function isCaughtUp({ resource, select, watched, versions }: Cache): Promise<boolean> {
    if (!watched) return true;
    const { items } = await real.list(resource, select);
    const same = (item: KubeObject) => versions.get(idOf(item)) === item.metadata.resourceVersion;
    return items.length === versions.size && items.every(same);
  }
  async function areCaughtUp(): Promise<boolean> {
    for (const cache of caches.values()) if (!(await isCaughtUp(cache))) return false;
    return running.reconciles === 0;
  }

  return {
    ...{ client, executor, clock },
    around: (work: () => Promise<void>): Promise<void> => counted('reconciles', work),
    /**
     * Waits until the caches are up to date and all objects are reconciled. Jobs on nodes may still
     * run.
     */
    caughtUp: () =>
      until('the controllers have caught up', async () => (await areCaughtUp()) || undefined),
    /** Waits until, in addition, no request is running and no timer ends within `soonMs`. */
    idle: (soonMs = SOON) =>
      until('the controllers are idle', async () => {
        const before = begun;
        if (!(await areCaughtUp()) || running.requests > 0) return undefined;
        const isSoon = [...sleeps].some((sleep) => sleep.until - Date.now() < soonMs);
        return (!isSoon && begun === before) || undefined;
      }),
  };
}
