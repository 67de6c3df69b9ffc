import { refuse } from '../../api/reasons.ts';
import { recordDevice } from '../block/metalk8s.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { planAttach } from './attach.ts';
import { lvName } from './names.ts';
import { deviceOf, ownOf } from './ownership.ts';

/**
 * Returns the missing records of a logical volume that MetalK8s made. Its name and file system
 * identify it. In mode Block only the name does: the caller checks that the PersistentVolume leads
 * to its link.
 */
export function planMetalk8sRecords(desired: DesiredLvm, observed: ObservedLvm): Plan {
  // Ignores records of an interrupted run: with records, a match by name alone counts as exchanged.
  const attached = planAttach(desired, { ...observed, intent: undefined, done: undefined });
  if ('refusal' in attached) return attached;
  const own = ownOf(desired, observed.volumes);
  const device = own === undefined ? undefined : deviceOf(observed, own);
  if (own === undefined || device === undefined || attached.steps.length > 0) {
    const volume = lvName(desired, own?.name ?? desired.name);
    const step = attached.steps[0]?.name;
    return { ...refuse('LogicalVolumeNotReady', { volume, step }), retryable: true };
  }
  const records = recordDevice(asRaw(desired), rawOf(observed), device);
  return 'refusal' in records || attached.notes === undefined
    ? records
    : { ...records, notes: attached.notes };
}
