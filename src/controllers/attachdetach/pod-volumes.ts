import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../api/core.ts';
import { VOLUME_GROUP } from '../../api/names.ts';
import type { Volume } from '../../api/volume.ts';
import type { PodUse } from './types.ts';

/** Lookups that resolve a pod's volumes. */
export interface Lookups {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  persistentVolume(name: string): PersistentVolume | undefined;
  /** Returns the Volumes with that `status.devicePath`. */
  volumesAt(devicePath: string): readonly Volume[];
}

export interface Use {
  /** UID of the Volume, which may be deleted. */
  volume: string;
  use: PodUse;
}

type PodVolume = NonNullable<Pod['spec']['volumes']>[number];

/**
 * Returns the Volumes that a pod needs on its node, each once: through claims, or inline as a block
 * device at the persistent path. Mirror pods count like others. Returns none for a pod that is not
 * scheduled or is terminated.
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
 * Reports whether a pod is scheduled and not terminated. A pod being deleted counts while a
 * container runs. The specification counts only Pending pods: after a restart, Running pods would
 * hold nothing.
 */
export function isCounted({ metadata, spec, status }: Pod): boolean {
  if (spec.nodeName === undefined || spec.nodeName === '') return false;
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  return metadata.deletionTimestamp === undefined || isRunning(status);
}

/**
 * Reports whether a pod that used a volume still does, according to the pod alone.
 * @param pod current pod of that name
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
  // The pod does not own the claim of that name: the kubelet refuses it, too.
  const owned =
    made?.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) ?? false;
  return owned ? behindClaim(made, lookups) : [];
}

/**
 * Returns the Volumes behind a claim. The claim counts only if its PersistentVolume refers back to
 * it by UID.
 */
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
  // The owner reference was removed: resolve by path.
  return path === undefined
    ? []
    : lookups.volumesAt(path).flatMap(({ metadata }) => metadata.uid ?? []);
}
