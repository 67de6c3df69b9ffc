import type { NodeAttachment } from './types.ts';

/**
 * Index of the Volumes of each pod, by name. Claims that lead from a pod to its Volumes may be
 * deleted before the pod. Then only this index shows which devices are no longer needed.
 */
export interface PodVolumeIndex {
  /** Records the current entries of a Volume. */
  note(volume: { uid: string; name: string }, entries: readonly NodeAttachment[]): void;
  /** Returns the names of the Volumes whose entries list the pod with that UID. */
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
