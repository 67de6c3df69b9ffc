import type { KubeObject } from '../../api/meta.ts';
import { COMPONENT } from '../../api/names.ts';
import { LEASES } from '../../api/resources.ts';
import { listAll } from '../../kube/client.ts';
import type { Connection } from '../../kube/connect.ts';
import { kindsInNamespaces } from '../../kube/discovery.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { Installed } from './installed-objects.ts';

/** Objects that Kubernetes creates in every namespace. */
const OF_EACH_NAMESPACE = ['ConfigMap kube-root-ca.crt', 'ServiceAccount default'];
/** Objects that the daemon leaves behind. */
const OF_THE_DAEMON = [`${LEASES.kind} ${COMPONENT}`];

/**
 * Returns the permanent objects of a namespace that neither Stowage nor Kubernetes created. `mine`
 * has the UIDs of Stowage's objects. Adds objects that only those own (pods of its Deployment) to
 * `mine`; pure otherwise.
 */
export function othersOf(found: readonly Installed[], mine: Set<string>): Installed[] {
  for (let before = -1; before !== mine.size; ) {
    before = mine.size;
    for (const { metadata } of found.map(({ object }) => object)) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length > 0 && owners.every(({ uid }) => mine.has(uid)))
        mine.add(metadata.uid ?? '');
    }
  }
  return found.filter(
    ({ resource: { kind }, object: { metadata } }) =>
      !mine.has(metadata.uid ?? '') &&
      // Such as pods of a Deployment that was just removed: their owner is no longer listed.
      metadata.deletionTimestamp === undefined &&
      kind !== 'Event' &&
      ![...OF_EACH_NAMESPACE, ...OF_THE_DAEMON].includes(`${kind} ${metadata.name}`),
  );
}

/** Returns the same as `othersOf`, for current objects of all kinds. Throws refusals. */
export async function othersIn(
  { client, transport }: Pick<Connection, 'client' | 'transport'>,
  namespace: string,
  mine: Set<string>,
  signal: AbortSignal,
): Promise<Installed[]> {
  const found = new Map<string, Installed>();
  for (const resource of await kindsInNamespaces(transport, signal)) {
    // Some kinds are served by two groups.
    for (const object of await objectsOf(resource))
      found.set(object.metadata.uid ?? '', { resource, object });
  }
  return othersOf([...found.values()], mine);

  async function objectsOf(resource: Installed['resource']): Promise<KubeObject[]> {
    try {
      const keep = ({ apiVersion, kind, metadata }: KubeObject) => ({ apiVersion, kind, metadata });
      return (await listAll<KubeObject>(client, resource, { namespace, signal }, keep)).items;
    } catch (error) {
      // The definition was removed meanwhile, with its objects.
      if (isNotFound(error)) return [];
      throw error;
    }
  }
}
