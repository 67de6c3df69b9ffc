import type { ReclaimInput } from './types.ts';

export type ReclaimDecision = { action?: { do: 'read-live' } | { do: 'delete-volume' } };

/**
 * Decides about a Volume whose claim is gone. A Volume that was never bound was never used
 * and is deleted, whatever the policy. Otherwise the policy of the PersistentVolume
 * decides, which may change later.
 */
export function decideReclaim({
  volume,
  pv,
  claim,
  liveClaim,
  clones,
}: ReclaimInput): ReclaimDecision {
  // Clones in progress need the Volume's data.
  if (clones.length > 0) return {};
  if (volume.metadata.deletionTimestamp !== undefined || claim !== undefined) return {};
  if (pv === undefined) {
    // Keep an Available Volume whose PersistentVolume was removed: its data may be needed.
    const { phase, prepared } = volume.status ?? {};
    const neverBound =
      phase === undefined || phase === 'Pending' || (phase === 'Failed' && prepared === undefined);
    if (!neverBound) return {};
  } else {
    // Another owner may have a PersistentVolume of that name.
    const { uid } = volume.metadata;
    if (!pv.metadata.ownerReferences?.some((owner) => owner.uid === uid)) return {};
    // The binder first marks the PersistentVolume as Released.
    if (pv.status?.phase !== 'Released' || pv.spec.persistentVolumeReclaimPolicy !== 'Delete')
      return {};
  }
  // The cache may be stale: a backup was restored, or the data was just
  // recovered by the PersistentVolume.
  if (liveClaim === undefined) return { action: { do: 'read-live' } };
  return liveClaim.found === undefined ? { action: { do: 'delete-volume' } } : {};
}
