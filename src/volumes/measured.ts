import { formatBytes } from '../api/quantity.ts';
import type { Volume, VolumeStatus } from '../api/volume.ts';
import { loopsOf } from '../storage/sparse-attach.ts';
import { linkOf } from '../storage/sparse-observe.ts';
import type { Desired, Observed } from '../storage/types.ts';
import { nodeOf } from './desired.ts';

/** What the status tells of a device that is present, as read from the node. */
export function measured(volume: Volume, observed: Observed, desired: Desired): Partial<VolumeStatus> {
  const loop = loopsOf(observed)[0];
  return {
    // Of a status that was lost: what is there was made by some attempt.
    attempt: volume.status?.attempt ?? 1,
    ...(loop === undefined ? {} : { deviceName: loop.name, capacity: formatBytes(loop.sizeBytes) }),
    devicePath: linkOf(desired.uid),
    prepared: volume.status?.prepared ?? {
      node: nodeOf(volume),
      paths: [desired.file],
      identity: `${desired.fsType} ${desired.uid}`,
    },
  };
}
