import type { Logger } from '../api/logger.ts';
import { VERSIONS_OF_REFERENCE_GRANTS } from '../api/reference-grants.ts';
import type { ReferenceGrant } from '../api/snapshot.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';
import { transforms } from './cache-transforms.ts';
import type { Inform } from './runnable.ts';
import { isAnswer, whenServed } from './wait-for-crds.ts';

export interface GrantsWatch {
  /** Before it is started. */
  onChange(listener: (grant: ReferenceGrant) => void): void;
  /** Where nobody listens nothing is followed. */
  start(): void;
  stop(): Promise<void>;
}

/**
 * Follows ReferenceGrants, for all who wait for one, in the first of their versions that the API server serves: all are the same
 * objects. A cluster that lacks them may get them later.
 */
export function watchGrants(deps: {
  client: KubeClient;
  inform: Inform;
  clock: Clock;
  logger: Logger;
}): GrantsWatch {
  const { client, inform, clock, logger } = deps;
  const listeners: ((grant: ReferenceGrant) => void)[] = [];
  const waits = VERSIONS_OF_REFERENCE_GRANTS.map((resource) => ({
    resource,
    wait: whenServed(client, [resource], clock, logger, isAnswer),
  }));
  let informer: Informer<ReferenceGrant> | undefined;
  let stopped = false;
  return {
    onChange: (listener) => listeners.push(listener),
    start() {
      if (listeners.length === 0) return;
      for (const { resource, wait } of waits) {
        wait.start().then(
          () => {
            if (stopped || informer !== undefined) return;
            informer = inform<ReferenceGrant>(resource, transforms.referenceGrants);
            informer.onChange(({ object }) => {
              for (const listener of listeners) listener(object);
            });
            informer.start();
          },
          () => {},
        );
      }
    },
    async stop() {
      stopped = true;
      for (const { wait } of waits) wait.stop();
      await informer?.stop();
    },
  };
}
