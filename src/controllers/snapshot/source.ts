import type { PersistentVolume, PersistentVolumeClaim } from '../../api/core.ts';
import { type Explanation, explain } from '../../api/reasons.ts';
import type { Volume } from '../../api/volume.ts';
import { isPvOf } from '../../model/persistent-volume.ts';

/** Data behind a claim: a Volume, data of another provisioner, or not known yet. */
export type SnapshotSource =
  | { is: 'ours'; claim: PersistentVolumeClaim; volume: Volume }
  | { is: 'not-ours'; why: Explanation }
  | { is: 'waits'; why: Explanation };

/**
 * Returns the Volume of a claim, by the claimRef and the owner of its PersistentVolume, never by
 * name alone.
 * @param pv the PersistentVolume that the claim's spec names
 * @param volume the Volume with the PersistentVolume's name
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

/**
 * Reports whether a Volume is still being provisioned. Afterwards, it no longer needs its
 * `spec.source`.
 */
export const isBeingMade = ({ metadata, status }: Volume): boolean =>
  status?.prepared == null && metadata.deletionTimestamp === undefined;
