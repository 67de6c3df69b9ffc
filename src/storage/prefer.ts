import type { Step } from '../nodes/job.ts';
import { makeLink } from './block/present.ts';
import { targetOf } from './block/target.ts';
import { preferLoop } from './loopfile/attach.ts';
import { asRaw } from './lvm/as-raw.ts';
import { deviceOf as lvmDevice, ownOf } from './lvm/ownership.ts';
import type { Desired, Observed } from './types.ts';

/**
 * Has udev prefer a volume's device for the path that it derives from content, if that is the volume's path and its device is there.
 * Attaching a volume does the same. But udev makes such paths by itself, and earlier versions wrote no rules for them.
 * @throws Error for an observation of another kind than what is desired
 */
export function preferDevice(desired: Desired, observed: Observed): Step[] {
  if (desired.earlierLink === undefined || desired.mode === 'Block' || !observed.udev) return [];
  if (desired.type === 'sparse' && observed.type === 'sparse') return preferLoop(desired, observed);
  if (desired.type === 'raw' && observed.type === 'raw') {
    const device = targetOf(desired, observed);
    return 'refusal' in device ? [] : makeLink(desired, device, device.name, true);
  }
  if (desired.type === 'lvm' && observed.type === 'lvm') {
    const own = ownOf(desired, observed.volumes);
    const device = own && lvmDevice(observed, own);
    return device === undefined ? [] : makeLink(asRaw(desired), device, device.name, true);
  }
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}
