import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import type { KubeObject, Resource } from '../../api/meta.ts';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS } from '../../api/resources.ts';
import type { Volume } from '../../api/volume.ts';
import { listAll } from '../../kube/client.ts';
import type { KubeClient } from '../../kube/types.ts';
import { isPvOf } from '../../model/persistent-volume.ts';
import { foundIn, type Reading, reading, readNamed } from '../lib/read-result.ts';

type Client = Pick<KubeClient, 'get' | 'list'>;

/** Claim that is bound to a Volume, or the reason why none is known. */
export type BoundClaim = { claim: PersistentVolumeClaim } | { why: string };

export const UNUSED = 'no running pod mounts it';

/**
 * Returns the claim of each Volume. UIDs prove each link: a claim or a PersistentVolume may have
 * been created again under the same name.
 * @param named true if only some Volumes of the cluster are requested, so that lists would be large
 */
export async function readClaims(
  client: Client,
  volumes: readonly Volume[],
  named: boolean,
  signal: AbortSignal,
): Promise<Map<Volume, BoundClaim>> {
  const find = named ? byName(client, signal) : byList(client, signal);
  const found = new Map<Volume, BoundClaim>();
  for (const volume of volumes) found.set(volume, await claimOf(volume, find));
  return found;
}

type Find = <T extends KubeObject>(
  resource: Resource,
  name: string | undefined,
  namespace?: string,
) => Promise<Reading<T>>;

async function claimOf(volume: Volume, find: Find): Promise<BoundClaim> {
  const pv = await find<PersistentVolume>(PERSISTENT_VOLUMES, volume.metadata.name);
  if ('forbidden' in pv) return { why: pv.forbidden };
  const own = foundIn(pv);
  if (own === undefined || !isPvOf(own, volume)) return { why: UNUSED };
  const { namespace, name, uid } = own.spec.claimRef ?? {};
  const claim = await find<PersistentVolumeClaim>(PERSISTENT_VOLUME_CLAIMS, name, namespace);
  if ('forbidden' in claim) return { why: claim.forbidden };
  const bound = foundIn(claim);
  if (bound === undefined || bound.metadata.uid !== uid) return { why: UNUSED };
  return bound.spec.volumeName === own.metadata.name ? { claim: bound } : { why: UNUSED };
}

const byName =
  (client: Client, signal: AbortSignal): Find =>
  (resource, name, namespace) =>
    readNamed(client, resource, name, { namespace, signal });

/** Reads each kind once, in pages, and keeps no more of an object than is compared. */
function byList(client: Client, signal: AbortSignal): Find {
  const lists = new Map<string, Promise<Reading<Map<string, KubeObject>>>>();
  const read = async (resource: Resource) => {
    const list = await reading(listAll(client, resource, { signal }, kept));
    return 'found' in list
      ? { found: new Map(list.found.items.map((each) => [keyOf(each.metadata), each])) }
      : list;
  };
  return async <T extends KubeObject>(
    resource: Resource,
    name: string | undefined,
    namespace?: string,
  ): Promise<Reading<T>> => {
    const list = lists.get(resource.plural) ?? read(resource);
    lists.set(resource.plural, list);
    const all = await list;
    if (!('found' in all)) return all;
    const found = all.found.get(keyOf({ name: name ?? '', namespace }));
    return found === undefined ? { absent: true } : { found: found as T };
  };
}

const keyOf = ({ namespace = '', name }: { namespace?: string | undefined; name: string }) =>
  `${namespace}/${name}`;

function kept<T extends KubeObject>(object: T): T {
  const { name, namespace, uid, creationTimestamp, ownerReferences } = object.metadata;
  return {
    ...object,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
  };
}

/** Returns the pods of a node by UID, or the reason why the user may not read them. */
export async function readPods(
  client: Client,
  node: string,
  signal: AbortSignal,
): Promise<{ pods: Map<string, Pod> } | { why: string }> {
  const fieldSelector = `spec.nodeName=${node}`;
  const list = await reading(listAll<Pod>(client, PODS, { fieldSelector, signal }));
  if ('forbidden' in list) return { why: list.forbidden };
  const here = (foundIn(list)?.items ?? []).filter(({ spec }) => spec.nodeName === node);
  return { pods: new Map(here.map((pod) => [pod.metadata.uid ?? '', pod])) };
}
