import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { isBeingMade } from './source.ts';

export interface ClaimUses {
  claim: PersistentVolumeClaim;
  /** Of the claim's namespace. */
  snapshots: readonly VolumeSnapshot[];
  /** Volumes whose source is the Volume of the claim, for claims of whichever namespace. */
  clones: readonly Volume[];
  /** It was bound, and its content is gone: nothing is taken for it any more. */
  isLost(snapshot: VolumeSnapshot): boolean;
}

/**
 * Whether the finalizer of a claim that is a source is to be put on, or taken off; undefined where it is as it is to be. A
 * snapshot of it that is being taken puts it on itself, before there is anything of it. A claim that only waits to be made
 * from it holds nothing: it may wait for ever. Pure.
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
    // An API server lets nobody put one on what is being deleted.
    return isCloned && deletionTimestamp === undefined ? 'put-on' : undefined;
  }
  const isTaken = (snapshot: VolumeSnapshot): boolean =>
    snapshot.spec.source.persistentVolumeClaimName === name &&
    snapshot.metadata.deletionTimestamp === undefined &&
    // What waits for something else, such as its class, has not protected the claim.
    (snapshot.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound) ?? false) &&
    !snapshot.status?.readyToUse &&
    !isLost(snapshot);
  return isCloned || snapshots.some(isTaken) ? undefined : 'take-off';
}
