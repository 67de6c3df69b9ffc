import type { KubeObject, Resource } from '../api/meta.ts';
import type { PopulatorDefinition, SourceKind } from '../api/populator.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { resourceOf } from '../model/populator-definition.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import type { Inform } from './runnable.ts';
import { type WhenServed, whenServed } from './wait-for-crds.ts';

export interface PopulationSourcesDeps {
  client: KubeClient;
  inform: Inform;
  definitions: Informer<PopulatorDefinition>;
  /** Called with each changed object of a kind that volumes are populated from. */
  onSource(kind: SourceKind, object: KubeObject): void;
  follows(definition: PopulatorDefinition): boolean;
  clock: Clock;
  absentCrds: AbsentCrds;
}

interface Followed {
  wait: WhenServed;
  informer: Informer<KubeObject> | undefined;
}

/**
 * Watches the objects that volumes are populated from, so that a waiting claim is requeued at once.
 * Waits for kinds that the cluster lacks or the daemon may not read.
 */
export function watchPopulationSources(deps: PopulationSourcesDeps) {
  const { client, inform, definitions, clock, absentCrds } = deps;
  const followed = new Map<string, Followed>();
  let started = false;
  let stopped = false;
  const endings: Promise<void>[] = [];

  function follow(key: string, resource: Resource, onChange: (object: KubeObject) => void): void {
    const wait = whenServed(client, [resource], clock, absentCrds);
    const entry: Followed = { wait, informer: undefined };
    followed.set(key, entry);
    wait.start().then(
      () => {
        if (stopped || followed.get(key) !== entry) return;
        entry.informer = inform<KubeObject>(resource, transforms.references);
        entry.informer.onChange(({ object }) => onChange(object));
        entry.informer.start();
      },
      () => {},
    );
  }

  function leave(key: string): void {
    const entry = followed.get(key);
    followed.delete(key);
    entry?.wait.stop();
    if (entry?.informer !== undefined) endings.push(entry.informer.stop());
  }

  const keyOf = ({ group, version, plural }: Resource) => `${plural}.${version}.${group}`;

  /** Starts and stops watches by all definitions. Several may define the same kind. */
  function adjust(): void {
    if (!started || stopped) return;
    const wanted = new Map(
      definitions
        .list()
        .filter(deps.follows)
        .map((definition) => {
          const resource = resourceOf(definition);
          return [keyOf(resource), { resource, kind: definition.spec.sourceKind }] as const;
        }),
    );
    for (const key of [...followed.keys()]) if (!wanted.has(key)) leave(key);
    for (const [key, { resource, kind }] of wanted) {
      if (!followed.has(key)) follow(key, resource, (object) => deps.onSource(kind, object));
    }
  }
  definitions.onChange(adjust);

  return {
    start(): void {
      started = true;
      adjust();
    },
    async stop(): Promise<void> {
      stopped = true;
      for (const key of [...followed.keys()]) leave(key);
      await Promise.all(endings);
    },
  };
}
