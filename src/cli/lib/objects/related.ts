import type { AnyEvent, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/core.ts';
import {
  EVENTS,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
} from '../../../api/resources.ts';
import type { Volume } from '../../../api/volume.ts';
import { listAll } from '../../../kube/client.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { isPvOf } from '../../../model/persistent-volume.ts';
import { foundIn, type Reading, reading, readNamed } from '../read-result.ts';

/** Namespace of Events about cluster-scoped objects. */
export const CLUSTER_EVENTS = 'default';

/** PersistentVolume with the Volume's name, even a foreign one, and users of the Volume's own. */
export interface Consumers {
  pv: Reading<PersistentVolume>;
  claim: Reading<PersistentVolumeClaim>;
  pods: Reading<Pod[]>;
}

/** Client that only reads. `podsOf` is set if the client knows pods by their claims. */
export interface ReadClient extends Pick<KubeClient, 'get' | 'list'> {
  podsOf?(claim: PersistentVolumeClaim): Promise<Pod[]>;
}

/** Returns the pods that use a claim. Throws a StowageError. */
export async function podsOf(
  client: ReadClient,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<Pod[]> {
  if (client.podsOf !== undefined) return client.podsOf(claim);
  const { namespace } = claim.metadata;
  const { items } = await listAll<Pod>(client, PODS, { namespace, signal });
  return items.filter((pod) => uses(pod, claim));
}

export async function readConsumers(
  client: ReadClient,
  volume: Volume,
  signal: AbortSignal,
): Promise<Consumers> {
  const pv = await readNamed<PersistentVolume>(client, PERSISTENT_VOLUMES, volume.metadata.name, {
    signal,
  });
  const ours = foundIn(pv);
  if (ours === undefined || !isPvOf(ours, volume))
    return { pv, claim: { absent: true }, pods: { absent: true } };
  const { namespace, name, uid } = ours.spec.claimRef ?? {};
  const claim = await readNamed<PersistentVolumeClaim>(client, PERSISTENT_VOLUME_CLAIMS, name, {
    namespace,
    signal,
  });
  const found = foundIn(claim);
  // Another claim of that name has nothing to do with this volume.
  if (found === undefined || (uid !== undefined && found.metadata.uid !== uid)) {
    return { pv, claim: found === undefined ? claim : { absent: true }, pods: { absent: true } };
  }
  return { pv, claim, pods: await reading(podsOf(client, found, signal)) };
}

/** Reports whether a pod uses a claim. A pod owns the claim of its generic ephemeral volume. */
export function uses(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  const owned = metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) ?? false;
  return (
    pod.spec.volumes?.some(
      ({ persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim?.claimName === metadata.name || (ephemeral !== undefined && owned),
    ) ?? false
  );
}

/** Returns the Events of a Volume and its PersistentVolume of the same name, the oldest first. */
export async function readEvents(
  client: ReadClient,
  volume: Volume,
  pv: PersistentVolume | undefined,
  signal: AbortSignal,
): Promise<Reading<AnyEvent[]>> {
  const fieldSelector = `involvedObject.name=${volume.metadata.name}`;
  const uids = new Map([
    ['Volume', volume.metadata.uid],
    ['PersistentVolume', pv?.metadata.uid],
  ]);
  const isAbout = ({ involvedObject: { kind = '', uid } }: AnyEvent) =>
    uid !== undefined && uids.get(kind) === uid;
  return reading(
    listAll<AnyEvent>(client, EVENTS, { namespace: CLUSTER_EVENTS, fieldSelector, signal }).then(
      ({ items }) => oldestFirst(items.filter(isAbout)),
    ),
  );
}

const timeOf = (event: AnyEvent): number => Date.parse(lastSeen(event)) || 0;

export const oldestFirst = (events: readonly AnyEvent[]): AnyEvent[] =>
  events.toSorted((a, b) => timeOf(a) - timeOf(b));

export const lastSeen = (event: AnyEvent): string =>
  event.series?.lastObservedTime ??
  event.lastTimestamp ??
  event.eventTime ??
  event.metadata.creationTimestamp ??
  '';
