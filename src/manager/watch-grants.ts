import type { Resource } from '../api/meta.ts';
import { VERSIONS_OF_REFERENCE_GRANTS } from '../api/reference-grants.ts';
import type { ReferenceGrant } from '../api/snapshot.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import type { Inform } from './runnable.ts';
import { isAnswer, whenServed } from './wait-for-crds.ts';

export interface GrantsWatch {
  /** Adds a listener. Call it before `start`. */
  onChange(listener: (grant: ReferenceGrant) => void): void;
  /** Starts the watch, unless there is no listener. */
  start(): void;
  stop(): Promise<void>;
}

/**
 * Watches ReferenceGrants for all listeners, in the first version that the API server serves: all
 * versions have the same objects. Waits if the cluster lacks them.
 */
export function watchGrants(deps: {
  client: KubeClient;
  inform: Inform;
  clock: Clock;
  absentCrds: AbsentCrds;
}): GrantsWatch {
  const { client, inform, clock, absentCrds } = deps;
  const lacking = new Set<Resource>();
  /** Reports the kind once no version of it is served: old clusters have only the earlier one. */
  const absentVersions: AbsentCrds = {
    report(resources) {
      for (const each of resources) lacking.add(each);
      if (lacking.size === VERSIONS_OF_REFERENCE_GRANTS.length)
        absentCrds.report(VERSIONS_OF_REFERENCE_GRANTS.slice(0, 1));
    },
  };
  const listeners: ((grant: ReferenceGrant) => void)[] = [];
  const waits = VERSIONS_OF_REFERENCE_GRANTS.map((resource) => ({
    resource,
    wait: whenServed(client, [resource], clock, absentVersions, isAnswer),
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
