import { planAdopt as adoptLvm } from './lvm/adopt.ts';
import { planAdopt as adoptRaw } from './raw/adopt.ts';
import { planAdopt as adoptSparse } from './sparse/adopt.ts';
import type { Desired, Observed, Plan } from './types.ts';

/**
 * What remains to be recorded on a node until it knows as the Volume's what MetalK8s made for it. The steps write nothing
 * but records; each looks first whether the device still is the one that was recognised. A refusal for what is not. Pure.
 * @throws Error for an observation of another kind than what is desired
 */
export function planAdopt(desired: Desired, observed: Observed): Plan {
  if (desired.type === 'sparse' && observed.type === 'sparse') return adoptSparse(desired, observed);
  if (desired.type === 'raw' && observed.type === 'raw') return adoptRaw(desired, observed);
  if (desired.type === 'lvm' && observed.type === 'lvm') return adoptLvm(desired, observed);
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}
