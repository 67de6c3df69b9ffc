import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';

/** What a claim's data are: a Volume's, somebody else's, or not to be told yet. */
export type SnapshotSource =
  | { is: 'ours'; claim: PersistentVolumeClaim; volume: Volume }
  | { is: 'not-ours'; why: Explanation }
  | { is: 'waits'; why: Explanation };

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
  if (claim === undefined) return waits(explain('SnapshotClaimMissing', { claim: name }));
  if (claim.metadata.deletionTimestamp !== undefined)
    return waits(explain('SnapshotClaimBeingDeleted', { claim: name }));
  const { volumeName } = claim.spec;
  if (!volumeName) return waits(explain('SnapshotClaimUnbound', { claim: name }));
  const both = { volume: volumeName, claim: name };
  if (pv === undefined) return waits(explain('SnapshotPersistentVolumeMissing', both));
  if (pv.spec.claimRef?.uid !== claim.metadata.uid)
    return waits(explain('SnapshotPersistentVolumeOfAnother', both));
  return volume !== undefined && isPvOf(pv, volume)
    ? { is: 'ours', claim, volume }
    : { is: 'not-ours', why: explain('SnapshotVolumeForeign', both) };
}

const waits = (why: Explanation): SnapshotSource => ({ is: 'waits', why });

/** Volumes that are being made from what they name in `spec.source`; what one was made from is of no use to it any more. */
export const isBeingMade = ({ metadata, status }: Volume): boolean =>
  status?.prepared == null && metadata.deletionTimestamp === undefined;
