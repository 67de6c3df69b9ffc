import type { KubeObject, Resource } from '../../src/api/meta.ts';
import type { KubeClient, ListOptions, SelectOptions, WatchOptions } from '../../src/kube/types.ts';
import type { Executor } from '../../src/nodes/job.ts';
import { type Clock, systemClock } from '../../src/workqueue/clock.ts';
import { until } from './until.ts';

/** A sleep that ends sooner than this, in ms, gathers work (queues round up to 50). Longer ones are retries, resyncs and deadlines. */
const SOON = 60;

/** What a watch has handed over and its informer has handled, by namespace and name. */
interface Cache {
  resource: Resource;
  select: SelectOptions;
  /** Otherwise it was only listed, and nobody follows it. */
  watched: boolean;
  versions: Map<string, string>;
}

/** `neverFromMs`: sleeps of this and more, in ms, never end. */
export type TestClock = Clock & { neverFromMs?: number };

const idOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
const selected = ({ namespace, labelSelector, fieldSelector }: SelectOptions): SelectOptions => ({
  ...{ namespace, labelSelector, fieldSelector },
});

/**
 * Wraps what controllers act through, and tells when they have nothing left to do. A test that expects nothing to happen waits
 * for that instead of for some time.
 */
export function observeWork(
  real: KubeClient,
  realExecutor: Executor,
  realClock: TestClock = systemClock,
) {
  const caches = new Map<string, Cache>();
  const sleeps = new Set<{ until: number }>();
  /** Under way: reconciles, and requests to the API server and to nodes. */
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
      // Who asks for one object only asks whether the kind is served.
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
        // Whoever asks for the next one has handled this one.
        yield event;
        if (event.type === 'DELETED') versions.delete(id);
        else if (event.type !== 'BOOKMARK') versions.set(id, resourceVersion);
      }
    },
  } as KubeClient;

  // Methods are looked up at each call: tests replace some.
  const executor: Executor = {
    ...realExecutor,
    poll: (...args) => realExecutor.poll(...args),
    observe: (...args) => request(() => realExecutor.observe(...args)),
    submit: (...args) => request(() => realExecutor.submit(...args)),
    purge: (...args) => request(() => realExecutor.purge(...args)),
  };

  const clock: Clock = {
    now: realClock.now,
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
    /** Waits until the controllers know of all that is on the API server, and have reconciled it. Work on nodes may go on. */
    caughtUp: () =>
      until('the controllers have caught up', async () => (await areCaughtUp()) || undefined),
    /** Waits until, besides, no request is under way and no timer ends within `soonMs`. */
    idle: (soonMs = SOON) =>
      until('the controllers are idle', async () => {
        const before = begun;
        if (!(await areCaughtUp()) || running.requests > 0) return undefined;
        const isSoon = [...sleeps].some((sleep) => sleep.until - Date.now() < soonMs);
        return (!isSoon && begun === before) || undefined;
      }),
  };
}
