import type { KubeObject, Resource } from '../../../api/meta.ts';
import { createInformer } from '../../../kube/informer.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { WatchPrinter } from '../output/watch-printer.ts';

/** Interval (ms) at which shown ages are refreshed. */
const REFRESH = 1000;

/** Requested objects of a kind. */
export interface Selection<O> {
  client: KubeClient;
  resource: Resource;
  /** Empty: all. */
  names: readonly string[];
  selector: string | undefined;
  /** Namespace, for a namespaced kind; undefined: all. */
  namespace: string | undefined;
  /** Returns false for objects that count as deleted. */
  isWanted(object: O): boolean;
}

/** Returns the key of an object among those of its kind. */
const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string =>
  `${namespace}/${name}`;

/**
 * Prints objects that were read already, then each again when it changes, across broken
 * connections. Runs until the signal aborts, and throws its reason. Also throws if the user may not
 * watch.
 */
export async function watchObjects<T extends KubeObject>(
  { client, resource, names, selector, namespace, isWanted }: Selection<T>,
  first: readonly T[],
  { print, refresh, leave }: WatchPrinter<T>,
  io: Io,
): Promise<void> {
  /** Last printed state of each object. */
  const shown = new Map(first.map((object) => [keyOf(object), object]));
  const refused = new AbortController();
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
      // Another request would be refused too.
      warn: (fields, message) => {
        const error: unknown = Reflect.get(fields, 'err');
        if (codeOf(error) === 'forbidden') refused.abort(error);
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
  informer.synced.then(
    () => {
      // Objects that were deleted between the read and the informer's first list.
      for (const object of shown.values()) {
        if (informer.get(object.metadata.name, object.metadata.namespace) === undefined)
          gone(object);
      }
    },
    () => {},
  );
  const reason = await refreshedUntil(AbortSignal.any([io.signal, refused.signal]), refresh, io);
  await informer.stop();
  throw reason;
}

const isSame = (a: KubeObject, b: KubeObject): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

/** Refreshes ages until the signal aborts, and returns its reason. */
export async function refreshedUntil(
  signal: AbortSignal,
  refresh: () => void,
  { clock }: Pick<Io, 'clock'>,
): Promise<unknown> {
  while (!signal.aborted) await clock.sleep(REFRESH, signal).then(refresh, () => {});
  return signal.reason;
}
