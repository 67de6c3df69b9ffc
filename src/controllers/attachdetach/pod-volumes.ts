import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { VOLUME_GROUP } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { PodUse } from './types.ts';

/** What a pod's volumes are found by. */
export interface Lookups {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  persistentVolume(name: string): PersistentVolume | undefined;
  /** The Volumes of which that is `status.devicePath`. */
  volumesAt(devicePath: string): readonly Volume[];
}

export interface Use {
  /** UID of the Volume. It may be gone. */
  volume: string;
  use: PodUse;
}

type PodVolume = NonNullable<Pod['spec']['volumes']>[number];

/**
 * The Volumes that a pod needs on its node, each once: through claims, or inline, as a block device at the persistent
 * path. Mirror pods are pods like others. None for a pod that is not scheduled, or is terminated.
 */
export function usesOf(pod: Pod, lookups: Lookups): Use[] {
  const { nodeName } = pod.spec;
  if (nodeName === undefined || !isCounted(pod)) return [];
  const use = useOf(pod, nodeName);
  const volumes = new Set<string>();
  for (const volume of pod.spec.volumes ?? []) {
    for (const uid of volumesBehind(pod, volume, lookups)) volumes.add(uid);
  }
  return [...volumes].map((volume) => ({ volume, use }));
}

/**
 * Scheduled and not terminated. The specification looks at Pending pods only, so that after a restart Running ones would
 * hold nothing.
 */
export function isCounted({ metadata, spec, status }: Pod): boolean {
  if (spec.nodeName === undefined || spec.nodeName === '') return false;
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  return metadata.deletionTimestamp === undefined || isRunning(status);
}

/**
 * Whether a pod that was seen to use a volume still does, as far as the pod itself tells.
 * @param pod the one of that name now
 */
export function isPodActive(pod: Pod | undefined, { uid, node }: PodUse): boolean {
  return (
    pod !== undefined && pod.metadata.uid === uid && pod.spec.nodeName === node && isCounted(pod)
  );
}

const useOf = ({ metadata: { uid = '', namespace = '', name } }: Pod, node: string): PodUse => ({
  uid,
  pod: `${namespace}/${name}`,
  node,
});

function isRunning(status: Pod['status']): boolean {
  return [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ].some(({ state }) => state?.running != null);
}

function volumesBehind(pod: Pod, volume: PodVolume, lookups: Lookups): string[] {
  const { persistentVolumeClaim: claim, ephemeral, hostPath } = volume;
  if (hostPath?.type === 'BlockDevice') {
    return lookups.volumesAt(hostPath.path).flatMap(({ metadata: { uid } }) => uid ?? []);
  }
  const { namespace = '' } = pod.metadata;
  if (claim != null) return behindClaim(lookups.claim(namespace, claim.claimName), lookups);
  if (ephemeral == null) return [];
  const made = lookups.claim(namespace, `${pod.metadata.name}-${volume.name}`);
  // A claim of that name that is not the pod's own: the kubelet refuses it, too.
  const owned =
    made?.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) ?? false;
  return owned ? behindClaim(made, lookups) : [];
}

/** A claim names its PersistentVolume, and is taken at its word only where that names the claim, by its UID. */
function behindClaim(claim: PersistentVolumeClaim | undefined, lookups: Lookups): string[] {
  const { volumeName = '' } = claim?.spec ?? {};
  const pv = volumeName === '' ? undefined : lookups.persistentVolume(volumeName);
  const uid = pv?.spec.claimRef?.uid;
  if (pv === undefined || uid === undefined || uid !== claim?.metadata.uid) return [];
  const owners = (pv.metadata.ownerReferences ?? []).filter(
    ({ kind, apiVersion }) => kind === 'Volume' && apiVersion.startsWith(`${VOLUME_GROUP}/`),
  );
  if (owners.length > 0) return owners.map((owner) => owner.uid);
  const path = pv.spec.local?.path;
  // Somebody took its owner off it.
  return path === undefined
    ? []
    : lookups.volumesAt(path).flatMap(({ metadata }) => metadata.uid ?? []);
}
