import type {
  AnyEvent,
  KubeNode,
  Lease,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { KubeObject, Resource } from '../../../api/meta.ts';
import { DRIVER, POPULATES_LABEL, VOLUME_API_VERSION } from '../../../api/names.ts';
import type { PopulatorDefinition, VolumePopulator } from '../../../api/populator.ts';
import {
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  POPULATOR_DEFINITIONS,
  STORAGE_CLASSES,
  VOLUME_POPULATORS,
  VOLUMES,
} from '../../../api/resources.ts';
import type { ReferenceGrant } from '../../../api/snapshot.ts';
import { parseHandle } from '../../../api/snapshot-handle.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import { type BuiltinReads, resolveBuiltin } from '../../../model/data-source/builtin.ts';
import { dataSourceOf } from '../../../model/data-source/data-source.ts';
import { type NearMiss, nearMisses } from '../../../model/data-source/grant.ts';
import { liveReads } from '../../../model/data-source/reads.ts';
import { isSameKind, isStandard, sourceReference } from '../../../model/data-source/reference.ts';
import {
  droppedBy,
  type ReadySource,
  type Resolution,
  resolve,
  type SourceReads,
} from '../../../model/data-source/resolve.ts';
import { definitionsFor } from '../../../model/populator-definition.ts';
import { followsLinks, followsNamespaces, leadersIn, readLeases } from '../../lib/leaders.ts';
import { eventsOf, isOwn } from '../../lib/objects/events.ts';
import { referrer } from '../../lib/objects/grant-kinds.ts';
import { CLUSTER_EVENTS, podsOf, type ReadClient } from '../../lib/objects/related.ts';
import { readyOf } from '../../lib/objects/volume-progress.ts';
import { foundIn, type Reading, reading, readNamed } from '../../lib/read-result.ts';
import { isGrowthFailing } from '../available.ts';
import { readClassNames, readFacts } from '../read.ts';
import { isGateOffEvent } from './event.ts';
import type { ClaimFacts, Made, Supply } from './facts.ts';

const ABSENT = { absent: true } as const;

/**
 * Reads the facts about a claim. Throws a StowageError; a refusal stands for an unreadable object.
 * @param grants returns the version in which ReferenceGrants are served
 * @param now ms since the epoch
 */
export async function readClaim(
  claim: PersistentVolumeClaim,
  client: ReadClient,
  grants: () => Promise<Resource | undefined>,
  signal: AbortSignal,
  now: number,
): Promise<ClaimFacts> {
  const { namespace = '', name, uid } = claim.metadata;
  const { storageClassName, volumeName } = claim.spec;
  const storageClass = await readNamed<StorageClass>(client, STORAGE_CLASSES, storageClassName, {
    signal,
  });
  const pv = await readNamed<PersistentVolume>(client, PERSISTENT_VOLUMES, volumeName, { signal });
  const bound = claim.status?.phase === 'Bound';
  const ours = foundIn(storageClass)?.provisioner === DRIVER;
  const volume = await readVolume();
  const found = foundIn(volume);
  const events = await readEvents();
  return {
    claim,
    storageClass,
    ...(storageClassName && (await readClassNames(client, storageClass, signal))),
    ...(bound || !ours ? { source: wasDropped(claim), misses: [] } : await readSource()),
    population: bound ? undefined : await readPopulation(),
    pv,
    volume,
    known:
      found === undefined || (readyOf(found)?.status === 'True' && !isGrowthFailing(found, now))
        ? undefined
        : await readFacts(client, found, signal),
    pods: await reading(podsOf(client, claim, signal)),
    events,
    ...(bound || !ours ? {} : { classEvents: await readClassEvents() }),
    supply: bound || ours ? undefined : await readSupply(client, signal),
  };

  async function readVolume(): Promise<Reading<Volume>> {
    const owner = foundIn(pv)?.metadata.ownerReferences?.find(
      ({ kind, apiVersion }) => kind === 'Volume' && apiVersion === VOLUME_API_VERSION,
    );
    if (owner === undefined && !ours) return ABSENT;
    const read = await readNamed<Volume>(client, VOLUMES, owner?.name ?? `pvc-${uid}`, { signal });
    // Another Volume of that name is unrelated to the claim.
    const other =
      owner !== undefined &&
      foundIn(read) !== undefined &&
      foundIn(read)?.metadata.uid !== owner.uid;
    return other ? ABSENT : read;
  }

  /** Returns undefined if the user may not read populators: events on the claim remain. */
  async function readPopulation(): Promise<ClaimFacts['population']> {
    const kind = sourceReference(claim);
    if (
      kind === undefined ||
      isStandard(kind) ||
      dataSourceOf(claim, { crossNamespace: true }).kind !== 'other'
    ) {
      return undefined;
    }
    const definitions = await reading(
      listAll<PopulatorDefinition>(client, POPULATOR_DEFINITIONS, { signal }),
    );
    const populators = await reading(
      listAll<VolumePopulator>(client, VOLUME_POPULATORS, { signal }),
    );
    if ('forbidden' in definitions || 'forbidden' in populators) return undefined;
    return {
      definitions: definitionsFor(foundIn(definitions)?.items ?? [], kind).map(
        ({ metadata }) => metadata.name,
      ),
      registered: (foundIn(populators)?.items ?? []).some(({ sourceKind }) =>
        isSameKind(sourceKind, kind),
      ),
      made: await readMade(),
    };
  }

  /** Searches all namespaces, since that of the daemon is unknown. */
  async function readMade(): Promise<Made> {
    const labelSelector = `${POPULATES_LABEL}=${uid}`;
    const list = async <T extends KubeObject>(resource: Resource) =>
      foundIn(await reading(listAll<T>(client, resource, { labelSelector, signal })))?.items[0];
    return {
      prime: await list<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS),
      pod: await list<Pod>(PODS),
    };
  }

  async function readEvents(): Promise<Reading<AnyEvent[]>> {
    const read = await reading(eventsOf(client, { namespace, name, uid }, signal));
    return 'found' in read ? { found: read.found.events } : read;
  }

  async function readClassEvents(): Promise<Reading<AnyEvent[]>> {
    const { metadata } = foundIn(storageClass) as StorageClass;
    const about = { namespace: CLUSTER_EVENTS, name: metadata.name, uid: metadata.uid };
    const read = await reading(eventsOf(client, about, signal));
    return 'found' in read ? { found: read.found.events } : read;
  }

  async function readSource(): Promise<
    Pick<ClaimFacts, 'source' | 'misses' | 'sourceNodes' | 'leases'>
  > {
    const leases = await readLeasesFor();
    const gate = { crossNamespace: isFollowed(leases), links: areLinksFollowed(leases) };
    const kind = dataSourceOf(claim, gate).kind;
    const withLeases = leases === undefined ? {} : { leases };
    if (kind === 'none') return { source: { none: true }, misses: [] };
    try {
      const resource = await grants();
      const read = liveReads(client, resource === undefined ? [] : [resource], signal);
      const asked = await resolve({ claim, gate, read });
      const source = 'other' in asked ? await filledOnNode(asked, gate, read) : asked;
      const misses = await readMisses(source, kind === 'link' ? 'links' : 'claims', resource);
      const names = 'ready' in source ? await nodesOf(source.ready, read) : [];
      const sourceNodes = await Promise.all(
        names.map(async (of) => ({
          name: of,
          node: await readNamed<KubeNode>(client, NODES, of, { signal }),
        })),
      );
      return { source, misses, sourceNodes, ...withLeases };
    } catch (error) {
      if (!(error instanceof StowageError) || error.code !== 'forbidden') throw error;
      return { source: { forbidden: error.message }, misses: [], ...withLeases };
    }
  }

  /** Returns the nodes that hold the source, as the daemon determines them; none if unknown. */
  async function nodesOf(ready: ReadySource, read: SourceReads): Promise<readonly string[]> {
    if ('volumeName' in ready) {
      const from = await readNamed<Volume>(client, VOLUMES, ready.volumeName, { signal });
      const { spec, status } = foundIn(from) ?? {};
      return spec?.attachableNodes ?? (status?.prepared ? [status.prepared.node] : []);
    }
    const content = await read.content(ready.contentName);
    const handle = parseHandle(
      content?.status?.snapshotHandle ?? content?.spec.source.snapshotHandle ?? '',
    );
    return 'problem' in handle ? [] : handle.nodes;
  }

  /**
   * Reports whether the daemon follows references to other namespaces: its Lease shows its feature
   * gate, or else its last event.
   */
  function isFollowed(leases: Reading<Lease[]> | undefined): boolean {
    if (leases === undefined) return true;
    const leaders = leadersIn(foundIn(leases) ?? [], now);
    return followsNamespaces(leaders) ?? !isGateOffEvent(foundIn(events)?.findLast(isOwn));
  }

  function areLinksFollowed(leases: Reading<Lease[]> | undefined): boolean {
    return leases === undefined || (followsLinks(leadersIn(foundIn(leases) ?? [], now)) ?? true);
  }

  /** Returns undefined if neither setting matters. */
  async function readLeasesFor(): Promise<Reading<Lease[]> | undefined> {
    const source = dataSourceOf(claim, { crossNamespace: false });
    // References to other kinds may cross namespaces as well.
    const crosses = sourceReference(claim)?.crossNamespace === true;
    return source.kind === 'gate-off' || source.kind === 'link' || crosses
      ? readLeases(client, signal)
      : undefined;
  }

  /**
   * Returns what prevents a volume from being filled on its node, if its kind is registered
   * for that; else `asked`.
   */
  async function filledOnNode(
    asked: Extract<Resolution, { other: unknown }>,
    gate: { crossNamespace: boolean },
    read: BuiltinReads,
  ): Promise<Resolution> {
    const found = await resolveBuiltin(claim, asked.other, gate, {
      grants: read.grants,
      definitions: read.definitions,
      async object(...where) {
        const answer = await read.object(...where);
        // A refusal to this user shows nothing about the daemon.
        if ('forbidden' in answer)
          throw new StowageError('forbidden', `you may not read ${where[0].plural}`);
        return answer;
      },
    });
    if ('ready' in found) return { none: true };
    return 'none' in found ? asked : found;
  }

  /** Reads grants of the referenced namespace, and those misplaced in the claim's own. */
  async function readMisses(
    source: Resolution,
    what: 'claims' | 'links',
    resource: Resource | undefined,
  ): Promise<NearMiss[]> {
    const asked = 'wait' in source ? source.wait.referent : undefined;
    if (asked === undefined || resource === undefined) return [];
    const all = await Promise.all(
      [asked.namespace, namespace].map((of) =>
        reading(listAll<ReferenceGrant>(client, resource, { namespace: of, signal })),
      ),
    );
    return nearMisses(
      all.flatMap((each) => foundIn(each)?.items ?? []),
      referrer(what, namespace),
      asked,
    );
  }
}

/** Returns the refusal if the source was dropped: the volume lacks the requested data. */
function wasDropped(claim: PersistentVolumeClaim): ClaimFacts['source'] {
  const source = dataSourceOf(claim, { crossNamespace: true });
  return source.kind === 'dropped' ? { refuse: droppedBy(source) } : undefined;
}

/** Reads the volumes that claims of static classes can be bound to. */
export async function readSupply(client: ReadClient, signal: AbortSignal): Promise<Supply> {
  const all = <T>(list: Promise<{ items: T[] }>) => reading(list.then(({ items }) => items));
  return {
    pvs: await all(listAll<PersistentVolume>(client, PERSISTENT_VOLUMES, { signal })),
    volumes: await all(listAll<Volume>(client, VOLUMES, { signal })),
  };
}
