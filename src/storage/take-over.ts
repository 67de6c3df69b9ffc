import { planTakeOver as takeOverRaw } from './block/take-over.ts';
import { planTakeOver as takeOverSparse } from './loopfile/take-over.ts';
import { inGroup } from './lvm/select.ts';
import { planTakeOver as takeOverLvm } from './lvm/take-over.ts';
import type { Desired, Observed, Plan } from './types.ts';

/**
 * What remains to be recorded on a node until it knows as the Volume's what MetalK8s made for it. The steps write nothing
 * but records; each looks first whether the device still is the one that was recognised. A refusal for what is not. Pure.
 * @throws Error for an observation of another kind than what is desired
 */
export function planTakeOver(desired: Desired, observed: Observed): Plan {
  if (desired.type === 'sparse' && observed.type === 'sparse')
    return takeOverSparse(desired, observed);
  if (desired.type === 'raw' && observed.type === 'raw') return takeOverRaw(desired, observed);
  if (desired.type === 'lvm' && observed.type === 'lvm') {
    const [group] = observed.groups;
    const planned = takeOverLvm(desired, observed);
    return group === undefined ? planned : inGroup(planned, group);
  }
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}
