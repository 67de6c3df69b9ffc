import type { KubeObject, Resource } from '../../../api/meta.ts';
import { createInformer, type Informer } from '../../../kube/informer.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { codeOf } from '../failure.ts';
import type { Io } from '../io.ts';
import { printable } from '../output/printable.ts';
import { warningLogger } from '../output/warning-logger.ts';

/** What is followed of one kind, in one namespace or all. */
export interface Followed<T> {
  list(): readonly T[];
  /** All there is was listed once, or the user may not look. */
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

/** Who may not look is told so once; of a kind that the cluster lacks there is nothing. Neither is asked for again. */
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
          io.stderr.write(printable(`note: not looked at: ${error.message}\n`));
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
