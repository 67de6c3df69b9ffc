import type { PersistentVolumeClaim } from '../../api/core.ts';
import { SNAPSHOT_FINALIZERS } from '../../api/names.ts';
import type { VolumeSnapshot } from '../../api/snapshot.ts';
import type { Volume } from '../../api/volume.ts';
import { isBeingMade } from './source.ts';

export interface ClaimUses {
  claim: PersistentVolumeClaim;
  /** Of the claim's namespace. */
  snapshots: readonly VolumeSnapshot[];
  claims: readonly PersistentVolumeClaim[];
  /** Volumes whose source is the Volume of the claim. */
  clones: readonly Volume[];
  /** It was bound, and its content is gone: nothing is taken for it any more. */
  isLost(snapshot: VolumeSnapshot): boolean;
}

/** Whether the finalizer of a claim that is a source is to go: no snapshot of it is being taken any more, no clone made. Pure. */
export function isDoneAsSource({ claim, snapshots, claims, clones, isLost }: ClaimUses): boolean {
  if (!claim.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.claimAsSource)) return false;
  const { name } = claim.metadata;
  const isTaken = (snapshot: VolumeSnapshot): boolean =>
    snapshot.spec.source.persistentVolumeClaimName === name &&
    snapshot.metadata.deletionTimestamp === undefined &&
    // What waits for something else, such as its class, has not protected the claim.
    (snapshot.metadata.finalizers?.includes(SNAPSHOT_FINALIZERS.bound) ?? false) &&
    !snapshot.status?.readyToUse &&
    !isLost(snapshot);
  const isCloned = ({ spec, status }: PersistentVolumeClaim): boolean =>
    status?.phase !== 'Bound' && isCloneOf(spec, name);
  return !snapshots.some(isTaken) && !clones.some(isBeingMade) && !claims.some(isCloned);
}

function isCloneOf({ dataSource, dataSourceRef }: PersistentVolumeClaim['spec'], name: string): boolean {
  return [dataSource, dataSourceRef].some(
    (source) => source?.kind === 'PersistentVolumeClaim' && !source.apiGroup && source.name === name,
  );
}
