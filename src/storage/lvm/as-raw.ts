import type { DesiredLvm, DesiredRaw, ObservedLvm, ObservedRaw } from '../types.ts';
import { lvPath } from './names.ts';

/** A logical volume that is there, as a raw device: what is made on it is made the same way. */
export const asRaw = (desired: DesiredLvm): DesiredRaw => ({
  ...desired,
  type: 'raw',
  devicePath: lvPath(desired),
});

export const rawOf = (observed: ObservedLvm): ObservedRaw => ({ ...observed, type: 'raw' });
