import type { ReclaimInput } from './types.ts';

export type ReclaimDecision = { action?: { do: 'read-live' } | { do: 'delete-volume' } };

/**
 * What becomes of a Volume that was made for a claim, once that is gone. One that was never bound was seen by nobody, so
 * that it goes whatever the policy; else it goes by the PersistentVolume's own policy, which may be changed later.
 */
export function decideReclaim({
  volume,
  pv,
  claim,
  liveClaim,
  clones,
}: ReclaimInput): ReclaimDecision {
  // Its data is needed until they are made.
  if (clones.length > 0) return {};
  if (volume.metadata.deletionTimestamp !== undefined || claim !== undefined) return {};
  if (pv === undefined) {
    // Of one that was Available somebody took the PersistentVolume away: what is in it is not ours to judge.
    const { phase, prepared } = volume.status ?? {};
    const neverBound =
      phase === undefined || phase === 'Pending' || (phase === 'Failed' && prepared === undefined);
    if (!neverBound) return {};
  } else {
    // One of its name may be somebody else's.
    const { uid } = volume.metadata;
    if (!pv.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return {};
    // Who binds says first that it is let go of.
    if (pv.status?.phase !== 'Released' || pv.spec.persistentVolumeReclaimPolicy !== 'Delete')
      return {};
  }
  // The cache may be behind: a backup was restored, or somebody just took the data back by the PersistentVolume.
  if (liveClaim === undefined) return { action: { do: 'read-live' } };
  return liveClaim.found === undefined ? { action: { do: 'delete-volume' } } : {};
}
