import { recordDevice } from '../block/take-over.ts';
import type { DesiredLvm, ObservedLvm, Plan } from '../types.ts';
import { asRaw, rawOf } from './as-raw.ts';
import { lvName } from './names.ts';
import { deviceOf, ownOf } from './ownership.ts';
import { planPresent } from './present.ts';

/**
 * What remains to be recorded of a logical volume that MetalK8s made. Its name tells whose it is, and its file system; nothing
 * on it does in mode Block: whoever takes it over looks whether the PersistentVolume leads to its link.
 */
export function planTakeOver(desired: DesiredLvm, observed: ObservedLvm): Plan {
  // Records of a take-over that was cut off would make another's of what has only the name.
  const present = planPresent(desired, { ...observed, intent: undefined, done: undefined });
  if ('refusal' in present) return present;
  const own = ownOf(desired, observed.volumes);
  const device = own === undefined ? undefined : deviceOf(observed, own);
  if (own === undefined || device === undefined || present.steps.length > 0) {
    const name = lvName(desired, own?.name ?? desired.name);
    const next = present.steps[0]?.name;
    return {
      refusal: `the logical volume ${name} is not ready to be recognised${next === undefined ? '' : `: still to be done: ${next}`}`,
      hint: `Have it active: lvchange -ay ${name}.`,
      passing: true,
    };
  }
  const records = recordDevice(asRaw(desired), rawOf(observed), device);
  return 'refusal' in records || present.notes === undefined
    ? records
    : { ...records, notes: present.notes };
}
