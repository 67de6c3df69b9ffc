import { formatBytes } from '../api/quantity.ts';
import type { Volume, VolumeStatus } from '../api/volume.ts';
import { deviceOf } from '../storage/device.ts';
import { lvPath } from '../storage/lvm/names.ts';
import type { Desired, Observed } from '../storage/types.ts';
import { nodeOf } from './desired.ts';

/** What the status tells of a device that is present, as read from the node. */
export function measured(volume: Volume, observed: Observed, desired: Desired): Partial<VolumeStatus> {
  const found = deviceOf(desired, observed);
  return {
    // Of a status that was lost: what is there was made by some attempt.
    attempt: volume.status?.attempt ?? 1,
    ...(found.device === undefined
      ? {}
      : { deviceName: found.device.name, capacity: formatBytes(found.device.sizeBytes) }),
    devicePath: found.link,
    prepared: volume.status?.prepared ?? {
      node: nodeOf(volume),
      paths: [placeOf(desired)],
      identity: found.identity,
    },
  };
}

function placeOf(desired: Desired): string {
  switch (desired.type) {
    case 'sparse':
      return desired.file;
    case 'raw':
      return desired.devicePath;
    case 'lvm':
      return lvPath(desired);
  }
}
