import type { KubeObject, Resource } from '../api/meta.ts';
import type { PopulatorDefinition } from '../api/populator.ts';
import { VERSIONS_OF_REFERENCE_GRANTS } from '../api/reference-grants.ts';
import {
  POPULATOR_DEFINITIONS,
  VOLUME_POPULATORS,
  VOLUME_SNAPSHOT_LINKS,
} from '../api/resources.ts';
import type { VolumeSnapshot, VolumeSnapshotContent } from '../api/snapshot.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import type { BuiltinReads } from '../model/data-source/builtin.ts';
import { liveReads } from '../model/data-source/reads.ts';
import type { SourceReads } from '../model/data-source/resolve.ts';
import type { Awaited } from '../model/data-source/types.ts';
import type { Clock } from '../workqueue/clock.ts';
import type { AbsentCrds } from './absent-crds.ts';
import { transforms } from './cache-transforms.ts';
import { watchPopulationSources } from './population-sources.ts';
import type { Inform } from './runnable.ts';
import { isAnswer, whenServed } from './wait-for-crds.ts';
import type { GrantsWatch } from './watch-grants.ts';

export interface ClaimSourcesDeps {
  client: KubeClient;
  inform: Inform;
  /** Informers of the snapshot controller, if it runs. */
  snapshots:
    | { snapshots: Informer<VolumeSnapshot>; contents: Informer<VolumeSnapshotContent> }
    | undefined;
  grants: Pick<GrantsWatch, 'onChange'>;
  /** Called with each changed object. */
  woken(kind: Awaited['kind'], object: KubeObject): void;
  clock: Clock;
  absentCrds: AbsentCrds;
}

export interface ClaimSources {
  start(): void;
  /** Returns reads from the API server, for the kinds that it serves now. */
  reads(): SourceReads & BuiltinReads;
  stop(): Promise<void>;
}

/**
 * Watches the sources of claims, so that a waiting claim is requeued at once. Waits for missing
 * CRDs: installing them requires no restart.
 */
export function watchClaimSources(deps: ClaimSourcesDeps): ClaimSources {
  const { client, inform, woken, clock, absentCrds } = deps;
  const wakeOn = <T extends KubeObject>(kind: Awaited['kind'], informer: Informer<T>) =>
    informer.onChange(({ object }) => woken(kind, object));
  if (deps.snapshots !== undefined) {
    wakeOn('VolumeSnapshot', deps.snapshots.snapshots);
    wakeOn('VolumeSnapshotContent', deps.snapshots.contents);
  }
  deps.grants.onChange((grant) => woken('ReferenceGrant', grant));
  const kinds: { kind: Awaited['kind']; resource: Resource }[] = [
    { kind: 'VolumeSnapshotLink', resource: VOLUME_SNAPSHOT_LINKS },
    { kind: 'PopulatorDefinition', resource: POPULATOR_DEFINITIONS },
    { kind: 'VolumePopulator', resource: VOLUME_POPULATORS },
  ];
  const running: { stop(): Promise<void> }[] = [];
  const waits = kinds.map(({ resource }) =>
    whenServed(client, [resource], clock, absentCrds, isAnswer),
  );
  let stopped = false;

  function follow({ kind, resource }: (typeof kinds)[number]): void {
    if (stopped) return;
    if (kind === 'PopulatorDefinition') {
      const definitions = inform<PopulatorDefinition>(resource, transforms.populatorDefinitions);
      const sources = watchPopulationSources({
        ...{ client, inform, definitions, clock, absentCrds },
        follows: ({ spec }) => spec.node !== undefined,
        onSource: (_kind, object) => woken('PopulatorSource', object),
      });
      running.push(sources);
      sources.start();
      begin(kind, definitions);
    } else begin(kind, inform<KubeObject>(resource, transforms.references));
  }

  function begin<T extends KubeObject>(kind: Awaited['kind'], informer: Informer<T>): void {
    wakeOn(kind, informer);
    running.push(informer);
    informer.start();
  }

  return {
    start() {
      kinds.forEach((each, index) => {
        waits[index]?.start().then(
          () => follow(each),
          () => {},
        );
      });
    },
    reads: () => liveReads(client, VERSIONS_OF_REFERENCE_GRANTS),
    async stop() {
      stopped = true;
      for (const wait of waits) wait.stop();
      await Promise.all(running.map((informer) => informer.stop()));
    },
  };
}
