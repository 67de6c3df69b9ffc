import type { NodeAttachment } from './types.ts';

/**
 * Which Volumes each pod is known to have, by name. What leads from a pod to its Volumes may be gone before the pod: then
 * nothing but this tells whose device it is that nobody needs any more.
 */
export interface PodVolumeIndex {
  /** What is known of a Volume now. */
  note(volume: { uid: string; name: string }, entries: readonly NodeAttachment[]): void;
  /** Names of the Volumes that the pod of that UID is listed for. */
  of(podUid: string): string[];
}

export function createPodVolumeIndex(): PodVolumeIndex {
  const namesOf = new Map<string, Map<string, string>>();
  const podsOf = new Map<string, readonly string[]>();

  return {
    note({ uid, name }, entries) {
      const before = podsOf.get(uid) ?? [];
      const pods = entries.flatMap((entry) => entry.pods.map((pod) => pod.uid));
      if (pods.length === before.length && pods.every((pod, at) => pod === before[at])) return;
      for (const pod of before) {
        const names = namesOf.get(pod);
        names?.delete(uid);
        if (names?.size === 0) namesOf.delete(pod);
      }
      for (const pod of pods) namesOf.set(pod, (namesOf.get(pod) ?? new Map()).set(uid, name));
      if (pods.length === 0) podsOf.delete(uid);
      else podsOf.set(uid, pods);
    },
    of: (podUid) => [...(namesOf.get(podUid)?.values() ?? [])],
  };
}
