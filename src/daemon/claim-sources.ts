import type { Logger } from '../api/logger.ts';
import type { KubeObject, Resource } from '../api/meta.ts';
import { REFERENCE_GRANTS, VOLUME_SNAPSHOT_LINKS } from '../api/resources.ts';
import type {
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from '../api/snapshot.ts';
import type { Clock } from '../control/clock.ts';
import type { Informer } from '../kube/informer.ts';
import type { KubeClient } from '../kube/types.ts';
import { liveReads } from '../provisioning/sources/reads.ts';
import type { SourceReads } from '../provisioning/sources/resolve.ts';
import type { Awaited } from '../provisioning/sources/types.ts';
import { keepReference } from './kept-fields.ts';
import { whenServed } from './when-served.ts';

export interface ClaimSourcesDeps {
  client: KubeClient;
  inform<T extends KubeObject>(resource: Resource, keep: (object: T) => T): Informer<T>;
  /** Those of the controller of snapshots, while that runs. */
  snapshots: { snapshots: Informer<VolumeSnapshot>; contents: Informer<VolumeSnapshotContent> } | undefined;
  /** Told of each object that changed. */
  woken(kind: Awaited['kind'], object: KubeObject): void;
  clock: Clock;
  logger: Logger;
}

export interface ClaimSources {
  start(): void;
  /** By the API server, of the kinds that it serves now. */
  reads(): SourceReads;
  stop(): Promise<void>;
}

/** Both are the same; the first that is served is followed. */
const GRANT_VERSIONS = ['v1', 'v1beta1'];

/**
 * Follows what claims start from, so that one that waits goes on at once. Kinds that the cluster lacks are waited for: whoever
 * installs their CRDs restarts nothing.
 */
export function watchClaimSources(deps: ClaimSourcesDeps): ClaimSources {
  const { client, inform, woken, clock, logger } = deps;
  const tell = <T extends KubeObject>(kind: Awaited['kind'], informer: Informer<T>) =>
    informer.onChange(({ object }) => woken(kind, object));
  if (deps.snapshots !== undefined) {
    tell('VolumeSnapshot', deps.snapshots.snapshots);
    tell('VolumeSnapshotContent', deps.snapshots.contents);
  }
  const kinds: { kind: Awaited['kind']; resource: Resource }[] = [
    { kind: 'VolumeSnapshotLink', resource: VOLUME_SNAPSHOT_LINKS },
    ...GRANT_VERSIONS.map((version) => ({
      kind: 'ReferenceGrant' as const,
      resource: { ...REFERENCE_GRANTS, version },
    })),
  ];
  const running: Informer<KubeObject>[] = [];
  const waits = kinds.map(({ resource }) => whenServed(client, [resource], clock, logger));
  let grants: Resource | undefined;
  let stopped = false;

  function follow({ kind, resource }: (typeof kinds)[number]): void {
    if (stopped || (kind === 'ReferenceGrant' && grants !== undefined)) return;
    if (kind === 'ReferenceGrant') grants = resource;
    const informer = inform<ReferenceGrant | VolumeSnapshotLink>(resource, keepReference);
    tell(kind, informer);
    running.push(informer as Informer<KubeObject>);
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
    reads: () => liveReads(client, grants),
    async stop() {
      stopped = true;
      for (const wait of waits) wait.stop();
      await Promise.all(running.map((informer) => informer.stop()));
    },
  };
}
