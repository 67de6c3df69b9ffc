import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import type { Volume } from '../../api/volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';

/** What a claim's data are: a Volume's, somebody else's, or not to be told yet. */
export type SnapshotSource =
  | { is: 'ours'; claim: PersistentVolumeClaim; volume: Volume }
  | { is: 'not-ours'; why: string }
  | { is: 'waits'; why: string };

/**
 * The Volume that a claim has: by the claimRef of its PersistentVolume, and by whose that is; never by a name alone.
 * @param pv of the name that the claim's spec has
 * @param volume of the PersistentVolume's name
 */
export function snapshotSourceOf(
  name: string,
  claim: PersistentVolumeClaim | undefined,
  pv: PersistentVolume | undefined,
  volume: Volume | undefined,
): SnapshotSource {
  if (claim === undefined) return { is: 'waits', why: `claim ${name} not found` };
  if (claim.metadata.deletionTimestamp !== undefined) {
    return { is: 'waits', why: `claim ${name} is being deleted` };
  }
  const { volumeName } = claim.spec;
  if (!volumeName)
    return { is: 'waits', why: `claim ${name} is not bound to a PersistentVolume yet` };
  if (pv === undefined)
    return { is: 'waits', why: `the PersistentVolume ${volumeName} of claim ${name} not found` };
  if (pv.spec.claimRef?.uid !== claim.metadata.uid) {
    return { is: 'waits', why: `the PersistentVolume ${volumeName} is not bound to claim ${name}` };
  }
  return volume !== undefined && isPvOf(pv, volume)
    ? { is: 'ours', claim, volume }
    : {
        is: 'not-ours',
        why: `the PersistentVolume ${volumeName} of claim ${name} is no Volume's of Stowage`,
      };
}

/** Volumes that are being made from what they name in `spec.source`; what one was made from is of no use to it any more. */
export const isBeingMade = ({ metadata, status }: Volume): boolean =>
  status?.prepared == null && metadata.deletionTimestamp === undefined;
