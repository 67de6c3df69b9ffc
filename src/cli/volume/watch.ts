import { VOLUMES } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { createInformer } from '../../kube/informer.ts';
import type { KubeClient } from '../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { warningLogger } from '../output/warning-logger.ts';
import type { WatchPrinter } from '../output/watch-printer.ts';

/** How often ages are brought up to date, where they are, in ms. */
const REFRESH = 1000;

export interface WatchVolumesOptions {
  /** None: all. */
  names: readonly string[];
  selector?: string;
  /** Those that are not are as good as gone. */
  isWanted: (volume: Volume) => boolean;
}

/**
 * Prints Volumes that were read already, then each again whenever it changes, over whatever breaks of the connection,
 * until the signal, whose reason is thrown. Throws, too, when the user may not watch.
 */
export async function watchVolumes(
  client: KubeClient,
  first: readonly Volume[],
  { names, selector, isWanted }: WatchVolumesOptions,
  { print, refresh, leave }: WatchPrinter<Volume>,
  io: Io,
): Promise<void> {
  /** What was printed last of each, by name. */
  const shown = new Map(first.map((volume) => [volume.metadata.name, volume]));
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  const logger = warningLogger(io);
  const informer = createInformer<Volume>({
    client,
    resource: VOLUMES,
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
  const gone = (volume: Volume) => {
    if (shown.delete(volume.metadata.name)) print([volume], true);
  };
  informer.onChange(({ type, object }) => {
    if (names.length > 0 && !names.includes(object.metadata.name)) return;
    const last = shown.get(object.metadata.name);
    if (type === 'deleted' || !isWanted(object)) {
      if (last !== undefined) gone(type === 'deleted' ? object : last);
      return;
    }
    if (last !== undefined && isSame(last, object)) return;
    shown.set(object.metadata.name, object);
    print([object], false);
  });

  print(first, false);
  informer.start();
  if (io.signal.aborted) end(io.signal.reason);
  io.signal.addEventListener('abort', () => end(io.signal.reason), { once: true });
  informer.synced.then(
    () => {
      // Between what was read and the informer's first list.
      for (const volume of shown.values()) {
        if (informer.get(volume.metadata.name) === undefined) gone(volume);
      }
    },
    () => {},
  );
  const reason = await refreshedUntil(ended, refresh, io);
  await informer.stop();
  throw reason;
}

const isSame = (a: Volume, b: Volume): boolean =>
  a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;

async function refreshedUntil<T>(ended: Promise<T>, refresh: () => void, { clock }: Io): Promise<T> {
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
