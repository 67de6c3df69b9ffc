import { parseQuantity } from '../../api/quantity.ts';
import { claimOf } from './claim-volume.ts';
import type { ClaimDecision, ClaimInput } from './types.ts';

/** A claim that is bound: its Volume grows to what it asks for, and it is told. */
export function expand({ claim, volume }: ClaimInput): ClaimDecision {
  if (volume === undefined || claimOf(volume)?.uid !== claim.metadata.uid) return {};
  const wanted = claim.spec.resources?.requests?.storage ?? '0';
  const has = claim.status?.capacity?.storage ?? '0';
  if (parseQuantity(wanted) <= parseQuantity(has)) return {};
  const { sparseLoopDevice, lvmLogicalVolume } = volume.spec;
  const asked = (sparseLoopDevice ?? lvmLogicalVolume)?.size ?? '0';
  if (parseQuantity(asked) < parseQuantity(wanted)) {
    return { action: { do: 'expand', volume, size: wanted } };
  }
  return {};
}
