import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { isBeingMade } from './source.ts';

export interface ClaimUses {
  claim: PersistentVolumeClaim;
  /** Snapshots in the claim's namespace. */
  snapshots: readonly VolumeSnapshot[];
  /** Volumes whose source is the claim's Volume, for claims in any namespace. */
  clones: readonly Volume[];
  /** Reports whether a bound snapshot has lost its content: no job takes it any more. */
  isLost(snapshot: VolumeSnapshot): boolean;
}

/**
 * Decides whether to add or remove the source finalizer of a claim; undefined if neither. A
 * snapshot being taken adds the finalizer itself, before its content exists. A claim that only
 * waits to be provisioned from this one adds none: it may wait forever. Pure.
 */
export function protectionOf({
  claim,
  snapshots,
  clones,
  isLost,
}: ClaimUses): 'put-on' | 'take-off' | undefined {
  const { name, finalizers, deletionTimestamp } = claim.metadata;
  const isCloned = clones.some(isBeingMade);
  if (!finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource)) {
    // The API server rejects a new finalizer on an object that is being deleted.
    return isCloned && deletionTimestamp === undefined ? 'put-on' : undefined;
  }
  const isTaken = (snapshot: VolumeSnapshot): boolean =>
    snapshot.spec.source.persistentVolumeClaimName === name &&
    snapshot.metadata.deletionTimestamp === undefined &&
    // A snapshot that waits for something else, such as its class, has not protected the claim.
    (snapshot.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound) ?? false) &&
    !snapshot.status?.readyToUse &&
    !isLost(snapshot);
  return isCloned || snapshots.some(isTaken) ? undefined : 'take-off';
}
