import type { DesiredLvm, DesiredRaw, ObservedLvm, ObservedRaw } from '../types.ts';
import { lvPath } from './names.ts';

/** Describes an existing logical volume as a raw device, since its content is made the same way. */
export const asRaw = (desired: DesiredLvm): DesiredRaw => ({
  ...desired,
  type: 'raw',
  devicePath: lvPath(desired),
});

export const rawOf = (observed: ObservedLvm): ObservedRaw => ({ ...observed, type: 'raw' });
