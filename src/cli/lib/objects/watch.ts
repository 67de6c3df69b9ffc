import type { KubeObject, Resource } from '../../../api/meta.ts';
import { createInformer } from '../../../kube/informer.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { WatchPrinter } from '../output/watch-printer.ts';

/** How often ages are brought up to date, where they are, in ms. */
const REFRESH = 1000;

/** Objects of a kind that are asked for. */
export interface Selection<O> {
  client: KubeClient;
  resource: Resource;
  /** None: all. */
  names: readonly string[];
  selector: string | undefined;
  /** Of kinds that are in one; undefined: all. */
  namespace: string | undefined;
  /** Objects for which it is false are as good as gone. */
  isWanted(object: O): boolean;
}

/** One there is only one of, of a kind. */
const keyOf = ({ metadata: { namespace = '', name } }: KubeObject): string =>
  `${namespace}/${name}`;

/**
 * Prints objects that were read already, then each again whenever it changes, over whatever breaks of the connection,
 * until the signal, whose reason is thrown. Throws, too, when the user may not watch.
 */
export async function watchObjects<T extends KubeObject>(
  { client, resource, names, selector, namespace, isWanted }: Selection<T>,
  first: readonly T[],
  { print, refresh, leave }: WatchPrinter<T>,
  io: Io,
): Promise<void> {
  /** What was printed last of each. */
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
      // To be asked again would not change it.
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
      // Between what was read and the informer's first list.
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

/** Brings ages up to date until the signal, and returns its reason. */
export async function refreshedUntil(
  signal: AbortSignal,
  refresh: () => void,
  { clock }: Pick<Io, 'clock'>,
): Promise<unknown> {
  while (!signal.aborted) await clock.sleep(REFRESH, signal).then(refresh, () => {});
  return signal.reason;
}
