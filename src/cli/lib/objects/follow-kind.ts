import type { KubeObject, Resource } from '../../../api/meta.ts';
import { createInformer, type Informer } from '../../../kube/informer.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { warningLogger } from '../output/warning-logger.ts';

/** Current objects of one kind, in one namespace or all. */
export interface Followed<T> {
  list(): readonly T[];
  /** Returns true once all objects were listed, or if none can be. */
  isKnown(): boolean;
  stop(): Promise<void>;
}

export interface FollowKindOptions {
  client: KubeClient;
  namespace?: string;
  io: Io;
  /** Called before something is written on the terminal. */
  leave(): void;
  onChange(): void;
}

/**
 * Follows the objects of a kind. A note reports once that the user may not read them. A kind that
 * the cluster lacks has none. Neither is requested again.
 */
export function followKind<T extends KubeObject>(
  resource: Resource,
  { client, namespace, io, leave, onChange }: FollowKindOptions,
): Followed<T> {
  let isKnown = false;
  const logger = warningLogger(io);
  const known = () => {
    isKnown = true;
    onChange();
  };
  const informer: Informer<T> = createInformer<T>({
    ...{ client, resource, clock: io.clock, random: Math.random },
    ...(namespace === undefined ? {} : { namespace }),
    logger: {
      ...logger,
      warn(fields, message) {
        const error: unknown = Reflect.get(fields, 'err');
        const code = codeOf(error);
        leave();
        if (code !== 'forbidden' && code !== 'not-found') return logger.warn(fields, message);
        if (code === 'forbidden' && error instanceof Error) {
          io.stderr.write(printable(`note: not checked: ${error.message}\n`));
        }
        void informer.stop();
        known();
      },
    },
  });
  informer.onChange(() => {
    if (isKnown) onChange();
  });
  informer.synced.then(known, () => {});
  informer.start();
  return { list: informer.list, isKnown: () => isKnown, stop: informer.stop };
}
