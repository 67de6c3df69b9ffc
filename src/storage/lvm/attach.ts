import { refuse } from '../../api/reasons.ts';
import { linked } from '../block/attach.ts';
import { checkMade } from '../block/provision.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { addTag } from './activate.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { ensureActive } from './ensure-active.ts';
import { groupOf, refuseChange } from './group.ts';
import { planGrow } from './grow.ts';
import { refresh } from './lvchange.ts';
import { isTagged, lvName, lvPath } from './names.ts';
import { deviceOf, isMarked, ownOf, refuseTags, whose } from './ownership.ts';
import { illnessNote } from './pool.ts';

/**
 * Kinds (lvs(8), Attr) that hold data: plain, thin, RAID, mirrors, caches, and origins of
 * snapshots. Excludes pools, snapshots, and volumes of pvmove.
 */
export const HOLDS_DATA = ['-', 'V', 'r', 'R', 'm', 'M', 'C', 'o', 'O'];

/**
 * Returns the remaining steps until the logical volume is active, has the wanted size, and the
 * persistent link leads to it.
 */
export function planAttach(desired: DesiredLvm, observed: ObservedLvm): Plan {
  const group = groupOf(desired, observed);
  if ('refusal' in group) return group;
  if (group.exported) {
    return refuse('VolumeGroupExported', { group: group.name, again: 'again' });
  }
  const own = ownOf(desired, observed.volumes);
  if (own === undefined) {
    return refuse('LogicalVolumeMissing', { volume: lvName(desired, desired.name) });
  }
  const owner = whose(desired, observed, own);
  // MetalK8s names logical volumes after Volumes, and keeps no records.
  const known = desired.recorded || observed.done !== undefined || observed.intent !== undefined;
  if (owner === 'not ours' || (owner === 'named' && known)) {
    return refuse('LogicalVolumeExchanged', { path: lvPath(desired), uuid: own.uuid });
  }
  if (owner === 'named' && !HOLDS_DATA.includes(own.kind)) {
    const found = { volume: lvName(desired, own.name), type: own.kind, group: group.name };
    return refuse('LogicalVolumeHoldsNoData', found);
  }
  if (desired.identity === undefined && owner === 'ours') {
    const doubtful = refuseTags(desired, observed, own);
    if (doubtful !== undefined) return doubtful;
  }
  const reached = ensureActive(desired, observed, own);
  if (reached !== undefined) return reached;
  const device = deviceOf(observed, own);
  // ensureActive refuses a missing device.
  if (device === undefined) return { steps: [] };
  // An interrupted lvextend leaves the device at its old size.
  if (device.sizeBytes < own.sizeBytes) return { steps: [refresh(desired, own)] };
  const made = checkMade(asRaw(desired), rawOf(observed), device);
  if ('refusal' in made) return made;
  const link = linked(asRaw(desired), rawOf(observed), device);
  if ('refusal' in link || link.steps.length > 0) {
    return 'refusal' in link ? link : { ...link, steps: [refresh(desired, own), ...link.steps] };
  }
  const untagged = owner === 'ours' && !isTagged(own, desired.uid);
  // Deletion identifies the logical volume by its tag.
  if (untagged && isMarked(desired, observed, own) && refuseChange(group) === undefined) {
    return { steps: [addTag(desired, own)] };
  }
  // A match by name alone gets no record: with one, the next attach would refuse it as exchanged.
  const grown: Plan =
    owner === 'ours' ? planGrow(desired, observed, group, own, device) : { steps: [] };
  if ('refusal' in grown || grown.steps.length > 0) return grown;
  const notes = [...(grown.notes ?? []), ...illnessNote(desired, observed, own)];
  if (notes.length === 0) return { steps: [] };
  return { steps: [], notes, ...(grown.reason && { reason: grown.reason }) };
}
