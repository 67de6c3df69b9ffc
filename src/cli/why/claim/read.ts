import type {
  AnyEvent,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../api/core.ts';
import { StowageError } from '../../../api/errors.ts';
import type { Resource } from '../../../api/meta.ts';
import { DRIVER, VOLUME_API_VERSION } from '../../../api/names.ts';
import { PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES, VOLUMES } from '../../../api/resources.ts';
import type { ReferenceGrant } from '../../../api/snapshot.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { type NearMiss, nearMisses } from '../../../provisioning/sources/grant.ts';
import { liveReads } from '../../../provisioning/sources/reads.ts';
import { droppedBy, type Resolution, resolve } from '../../../provisioning/sources/resolve.ts';
import { sourceOf } from '../../../provisioning/sources/source-of.ts';
import { referrer } from '../../grants/kinds.ts';
import { eventsOf } from '../../snapshots/events.ts';
import { readyOf } from '../../volume/describe.ts';
import { foundIn, type Reading, reading, readNamed } from '../../volume/reading.ts';
import { uses } from '../../volume/related.ts';
import type { Supply } from '../pod/known.ts';
import { readKnown } from '../read.ts';
import type { ClaimKnown } from './known.ts';

const ABSENT = { absent: true } as const;

/**
 * What is around a claim. Throws a StowageError; what the user may not read is told in its place.
 * @param grants finds out in which version ReferenceGrants are served
 */
export async function readClaim(
  claim: PersistentVolumeClaim,
  client: KubeClient,
  grants: () => Promise<Resource | undefined>,
  signal: AbortSignal,
): Promise<ClaimKnown> {
  const { namespace = '', name, uid } = claim.metadata;
  const { storageClassName, volumeName } = claim.spec;
  const storageClass = await readNamed<StorageClass>(client, STORAGE_CLASSES, storageClassName, { signal });
  const pv = await readNamed<PersistentVolume>(client, PERSISTENT_VOLUMES, volumeName, { signal });
  const bound = claim.status?.phase === 'Bound';
  const ours = foundIn(storageClass)?.provisioner === DRIVER;
  const volume = await readVolume();
  const found = foundIn(volume);
  const list = listAll<Pod>(client, PODS, { namespace, signal });
  return {
    claim,
    storageClass,
    ...(bound || !ours ? { source: wasDropped(claim), misses: [] } : await readSource()),
    pv,
    volume,
    known:
      found === undefined || readyOf(found)?.status === 'True'
        ? undefined
        : await readKnown(client, found, signal),
    pods: await reading(list.then(({ items }) => items.filter((pod) => uses(pod, claim)))),
    events: await readEvents(),
    supply: bound || ours ? undefined : await readSupply(client, signal),
  };

  async function readVolume(): Promise<Reading<Volume>> {
    const owner = foundIn(pv)?.metadata.ownerReferences?.find(
      ({ kind, apiVersion }) => kind === 'Volume' && apiVersion === VOLUME_API_VERSION,
    );
    if (owner === undefined && !ours) return ABSENT;
    const read = await readNamed<Volume>(client, VOLUMES, owner?.name ?? `pvc-${uid}`, { signal });
    // Another one of its name has nothing to do with it.
    const other =
      owner !== undefined && foundIn(read) !== undefined && foundIn(read)?.metadata.uid !== owner.uid;
    return other ? ABSENT : read;
  }

  async function readEvents(): Promise<Reading<AnyEvent[]>> {
    const read = await reading(eventsOf(client, { namespace, name, uid }, signal));
    return 'found' in read ? { found: read.found.events } : read;
  }

  async function readSource(): Promise<Pick<ClaimKnown, 'source' | 'misses'>> {
    // The daemon's gate is its own: where it is off, the daemon's event says it.
    const gate = { crossNamespace: true };
    const kind = sourceOf(claim, gate).kind;
    if (kind === 'none') return { source: { none: true }, misses: [] };
    try {
      const resource = await grants();
      const read = liveReads(client, resource, signal);
      const source = await resolve({ claim, gate, read });
      return { source, misses: await readMisses(source, kind === 'link' ? 'links' : 'claims', resource) };
    } catch (error) {
      if (!(error instanceof StowageError) || error.code !== 'forbidden') throw error;
      return { source: { forbidden: error.message }, misses: [] };
    }
  }

  /** Of the namespace that is referred to, and of its own, where one may have been made by mistake. */
  async function readMisses(
    source: Resolution,
    what: 'claims' | 'links',
    resource: Resource | undefined,
  ): Promise<NearMiss[]> {
    const asked = 'wait' in source && source.wait.reason === 'NotAllowed' ? source.wait.referent : undefined;
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

/** Whatever made its volume, it is not what was asked for. */
function wasDropped(claim: PersistentVolumeClaim): ClaimKnown['source'] {
  const source = sourceOf(claim, { crossNamespace: true });
  return source.kind === 'dropped' ? { refuse: droppedBy(source) } : undefined;
}

/** What claims of static classes can be bound to. */
export async function readSupply(client: KubeClient, signal: AbortSignal): Promise<Supply> {
  const all = <T>(list: Promise<{ items: T[] }>) => reading(list.then(({ items }) => items));
  return {
    pvs: await all(listAll<PersistentVolume>(client, PERSISTENT_VOLUMES, { signal })),
    volumes: await all(listAll<Volume>(client, VOLUMES, { signal })),
  };
}
