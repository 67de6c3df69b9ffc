import type { Logger } from '../api/logger.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { listAll } from './client.ts';
import { type Change, compareVersions, ObjectStore } from './store.ts';
import type { Clock, KubeClient } from './types.ts';

export interface InformerOptions<T extends KubeObject> {
  client: Pick<KubeClient, 'list' | 'watch'>;
  resource: Resource;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Called on each object before it is stored, to drop unused fields. May change its argument. */
  transform?: (object: T) => T;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  /** Time (ms) after which a silent watch counts as dead. Default: 3 minutes. */
  silenceMs?: number;
  /** Approximate interval (ms) at which everything is listed again. Default: 30 minutes. */
  relistMs?: number;
}

export interface Informer<T extends KubeObject> {
  /** Starts listing and watching. Call it once. */
  start(): void;
  /** Stops the informer. Resolves when nothing runs any more. */
  stop(): Promise<void>;
  /** Resolves after the handlers got the first list. Rejects if the informer is stopped before. */
  synced: Promise<void>;
  hasSynced(): boolean;
  /** Time of the last list, event or bookmark, by `now` of the clock; 0 before the first. */
  lastHeard(): number;
  get(name: string, namespace?: string): T | undefined;
  list(): T[];
  /** Adds a handler. Call it before `start`. Errors of a handler are only logged. */
  onChange(handler: (change: Change<T>) => void): void;
  /** Stores the response to a write, unless the stored state is newer or the object was deleted. */
  recordWrite(object: T): void;
}

/** API servers send a bookmark about every minute (watch cache, bookmarkFrequency). */
const SILENCE_MS = 3 * 60_000;
const RELIST_MS = 30 * 60_000;
/** Minimum length of a watch (s). As in client-go, 5 to 10 minutes spread load over servers. */
const WATCH_SECONDS = 300;
const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 30_000;
/** Minimum length of a watch without events (ms). A shorter one is a failure: no busy loop. */
const SHORTEST_WATCH_MS = 1000;

/**
 * Creates a cache of the objects of one kind. The informer lists, then watches from there as long
 * as watches end normally. After any error it lists again, until it is stopped.
 */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { client, resource, clock, random, logger } = options;
  const {
    silenceMs = SILENCE_MS,
    relistMs = RELIST_MS,
    transform = (object: T) => object,
  } = options;
  const { namespace, labelSelector, fieldSelector } = options;
  const select = { namespace, labelSelector, fieldSelector };
  const store = new ObjectStore<T>();
  const handlers: ((change: Change<T>) => void)[] = [];
  const stopping = new AbortController();
  const { promise: synced, resolve: onSynced, reject: onUnsynced } = Promise.withResolvers<void>();
  synced.catch(() => {});
  let hasSynced = false;
  let running: Promise<void> | undefined;
  let lastHeard = 0;
  /**
   * Version from which the next watch starts. Unset if a list is needed, also when another server
   * may answer next. A server restored from a backup continues from the backup's version, and is
   * silent on a watch from a future version (kubernetes/kubernetes#107457).
   */
  let position: string | undefined;
  let failures = 0;

  function notify(changes: Change<T>[]): void {
    for (const change of changes) {
      for (const handler of handlers) {
        try {
          handler(change);
        } catch (err) {
          const { name } = change.object.metadata;
          logger.error(
            { err, kind: resource.kind, name, change: change.type },
            'event handler failed',
          );
        }
      }
    }
  }

  async function list(): Promise<void> {
    store.beginList();
    const options = { ...select, signal: stopping.signal };
    const { items, resourceVersion } = await listAll<T>(client, resource, options, transform);
    lastHeard = clock.now();
    notify(store.replace(items, resourceVersion));
    position = resourceVersion;
    hasSynced = true;
    onSynced();
  }

  async function watch(from: string): Promise<void> {
    const attempt = new AbortController();
    const signal = AbortSignal.any([attempt.signal, stopping.signal]);
    const started = clock.now();
    const seconds = Math.round(WATCH_SECONDS * (1 + random()));
    let silent = true;
    const events = client.watch<T>(resource, {
      ...select,
      resourceVersion: from,
      timeoutSeconds: seconds,
      signal,
    });
    const dog = watchDog(started, attempt);
    try {
      for await (const { type, object } of events) {
        const version = object.metadata.resourceVersion ?? '';
        // On a DELETED event, some servers send the version of the last write.
        if (type !== 'DELETED' && compareVersions(version, position ?? '') < 0) {
          throw new Error(`resource versions went backwards, from ${from} to ${version}`);
        }
        silent = false;
        lastHeard = clock.now();
        failures = 0;
        if (compareVersions(version, position ?? '') > 0) position = version;
        if (type === 'DELETED') notify(store.remove(transform(object)));
        else if (type !== 'BOOKMARK') notify(store.put(transform(object)));
      }
    } finally {
      attempt.abort();
      await dog;
    }
    const lasted = clock.now() - started;
    if (silent && lasted < SHORTEST_WATCH_MS) throw new Error('the watch ended at once');
    // A server that stops ends its watches early. Only a watch that lasted its full time surely
    // leaves the same server.
    if (lasted < seconds * 1000) position = undefined;
  }

  /** Aborts a silent watch: a half-open connection never fails, and the cache would stay stale. */
  async function watchDog(started: number, attempt: AbortController): Promise<void> {
    while (!attempt.signal.aborted) {
      const left = Math.max(lastHeard, started) + silenceMs - clock.now();
      if (left <= 0) {
        attempt.abort(new Error(`no data for ${silenceMs} ms`));
      } else {
        await clock.sleep(left, attempt.signal).catch(() => {});
      }
    }
  }

  async function run(): Promise<void> {
    let relistAt = 0;
    while (!stopping.signal.aborted) {
      try {
        if (position === undefined || clock.now() >= relistAt) {
          await list();
          relistAt = clock.now() + relistMs * (0.75 + random() / 2);
        }
        await watch(position ?? '');
        failures = 0;
      } catch (err) {
        if (stopping.signal.aborted) return;
        failures += 1;
        position = undefined;
        const delay =
          Math.min(BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS) * (0.5 + random() / 2);
        logger.warn({ err, kind: resource.kind, failures, delay }, 'watch failed; restarting it');
        await clock.sleep(delay, stopping.signal).catch(() => {});
      }
    }
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      onUnsynced(new Error(`the informer of ${resource.plural} was stopped before its first list`));
      await running;
    },
    synced,
    hasSynced: () => hasSynced,
    lastHeard: () => lastHeard,
    get: (name, inNamespace) => store.get(name, inNamespace),
    list: () => store.list(),
    onChange: (handler) => {
      handlers.push(handler);
    },
    recordWrite: (object) => notify(store.recordWrite(transform(object))),
  };
}
