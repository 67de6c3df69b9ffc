import type { KubeObject, Resource } from '../../api/meta.ts';
import { createInformer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { WatchPrinter } from '../output/watch-printer.ts';

/** How often ages are brought up to date, where they are, in ms. */
const REFRESH = 1000;

export interface WatchObjectsOptions<T> {
  /** None: all. */
  names: readonly string[];
  selector?: string;
  /** Of kinds that are in one; none: all. */
  namespace?: string;
  /** Those that are not are as good as gone. */
  isWanted: (object: T) => boolean;
}

/** One there is only one of, of a kind. */
const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string =>
  `${namespace}/${name}`;

/**
 * Prints objects that were read already, then each again whenever it changes, over whatever breaks of the connection,
 * until the signal, whose reason is thrown. Throws, too, when the user may not watch.
 */
export async function watchObjects<T extends KubeObject>(
  client: KubeClient,
  resource: Resource,
  first: readonly T[],
  { names, selector, namespace, isWanted }: WatchObjectsOptions<T>,
  { print, refresh, leave }: WatchPrinter<T>,
  io: Io,
): Promise<void> {
  /** What was printed last of each. */
  const shown = new Map(first.map((object) => [keyOf(object), object]));
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  const logger = warningLogger(io);
  const informer = createInformer<T>({
    client,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {}),
    clock: io.clock,
    random: Math.random,
    logger: {
      ...logger,
      // To be asked again would not change it.
      warn: (fields, message) => {
        const error: unknown = Reflect.get(fields, 'err');
        if (codeOf(error) === 'forbidden') end(error);
        else {
          leave();
          logger.warn(fields, message);
        }
      },
    },
  });
  const gone = (object: T) => {
    if (shown.delete(keyOf(object))) print([object], true);
  };
  informer.onChange(({ type, object }) => {
    if (names.length > 0 && !names.includes(object.metadata.name)) return;
    const last = shown.get(keyOf(object));
    if (type === 'deleted' || !isWanted(object)) {
      if (last !== undefined) gone(type === 'deleted' ? object : last);
      return;
    }
    if (last !== undefined && isSame(last, object)) return;
    shown.set(keyOf(object), object);
    print([object], false);
  });

  print(first, false);
  informer.start();
  if (io.signal.aborted) end(io.signal.reason);
  io.signal.addEventListener('abort', () => end(io.signal.reason), { once: true });
  informer.synced.then(
    () => {
      // Between what was read and the informer's first list.
      for (const object of shown.values()) {
        if (informer.get(object.metadata.name, object.metadata.namespace) === undefined)
          gone(object);
      }
    },
    () => {},
  );
  const reason = await refreshedUntil(ended, refresh, io);
  await informer.stop();
  throw reason;
}

const isSame = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

/** Has ages brought up to date until that has come. */
export async function refreshedUntil<T>(
  ended: Promise<T>,
  refresh: () => void,
  { clock }: Io,
): Promise<T> {
  const over = new AbortController();
  const refreshing = async () => {
    for (;;) {
      await clock.sleep(REFRESH, over.signal);
      refresh();
    }
  };
  refreshing().catch(() => {});
  try {
    return await ended;
  } finally {
    over.abort();
  }
}
