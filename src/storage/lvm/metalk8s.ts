import { refuse } from '../../api/reasons.ts';
import { recordDevice } from '../block/metalk8s.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { planAttach } from './attach.ts';
import { lvName } from './names.ts';
import { deviceOf, ownOf } from './ownership.ts';

/**
 * What remains to be recorded of a logical volume that MetalK8s made. Its name tells whose it is, and its file system; nothing
 * on it does in mode Block: whoever takes it over looks whether the PersistentVolume leads to its link.
 */
export function planMetalk8sRecords(desired: DesiredLvm, observed: ObservedLvm): Plan {
  // Records of a take-over that was cut off would make another's of what has only the name.
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
