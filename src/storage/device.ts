import { volumeDevice as rawDevice } from './block/present.ts';
import { targetOf } from './block/target.ts';
import { linkOf } from './links.ts';
import { volumeDevice as sparseDevice } from './loopfile/loop.ts';
import { deviceOf as lvmDevice, ownOf } from './lvm/ownership.ts';
import type { BlockDevice, Desired, Observed } from './types.ts';

/** The device that is the volume, as a node shows it. */
export interface VolumeDevice {
  /** undefined while it is not there. */
  device: Pick<BlockDevice, 'name' | 'sizeBytes'> | undefined;
  /** Its persistent path. */
  link: string;
  /** What tells the storage from another of its path. */
  identity: string;
}

/** @throws Error for an observation of another kind than what is desired */
export function deviceOf(desired: Desired, observed: Observed): VolumeDevice {
  const link = linkOf(desired);
  if (desired.type === 'sparse' && observed.type === 'sparse') {
    const { signature } = observed;
    return {
      device: sparseDevice(desired, observed),
      link,
      identity: `${signature.found === 'one' ? signature.type : 'unknown'} ${desired.uid}`,
    };
  }
  if (desired.type === 'raw' && observed.type === 'raw') {
    const facts = targetOf(desired, observed);
    if ('refusal' in facts) return { device: undefined, link, identity: '' };
    return { device: rawDevice(desired, facts), link, identity: facts.identity };
  }
  if (desired.type === 'lvm' && observed.type === 'lvm') {
    const own = ownOf(desired, observed.volumes);
    const facts = own === undefined ? undefined : lvmDevice(observed, own);
    return { device: facts, link, identity: facts?.identity ?? '' };
  }
  throw new Error(`a ${desired.type} volume was looked at as a ${observed.type} one`);
}
