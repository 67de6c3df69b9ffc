import { formatBytes } from '../../api/quantity.ts';
import { deviceOf, type VolumeDevice } from '../../storage/device.ts';
import { compareDevice, updateIdentity } from '../../storage/identity.ts';
import { madeBytes } from '../../storage/loopfile/layout.ts';
import { lvPath } from '../../storage/lvm/names.ts';
import type { Desired, Observed } from '../../storage/types.ts';
import type { StatusFields } from './status.ts';
import type { Input } from './types.ts';

/**
 * What the status tells of a volume, as read from the node that it was looked at on. Without a device, which is made where
 * a pod needs it, there is no deviceName, and the rest stays as it was when there was one.
 */
export function measured(
  { volume, node }: Pick<Input, 'volume' | 'node'>,
  observed: Observed,
  desired: Desired,
): StatusFields {
  const { status = {} } = volume;
  const found = deviceOf(desired, observed);
  return {
    // Of a status that was lost: what is there was made by some attempt.
    attempt: status.attempt ?? 1,
    ...(found.device === undefined
      ? {
          deviceName: undefined,
          capacity: status.capacity ?? formatBytes(madeSize(desired, observed)),
          devicePath: status.devicePath ?? found.link,
        }
      : {
          deviceName: found.device.name,
          capacity: formatBytes(found.device.sizeBytes),
          devicePath: found.link,
        }),
    prepared:
      status.prepared === undefined
        ? { node, paths: [placeOf(desired)], identity: found.identity }
        : {
            ...status.prepared,
            identity: currentIdentity(desired, status.prepared.identity, found),
          },
  };
}

/**
 * Returns the recorded identity, in its present spelling where a strong identifier and what is on the device agree that it is
 * the one: kernel, udev and firmware change it, and the next change is compared with this one.
 */
function currentIdentity(
  desired: Desired,
  recorded: string,
  { device, identity }: VolumeDevice,
): string {
  const isSame =
    desired.type === 'raw' &&
    device &&
    compareDevice({ identity: recorded }, { identity }) === 'same';
  return isSame ? updateIdentity(recorded, identity) : recorded;
}

/** In bytes, of what is not attached: the file of a Block volume holds more than the partition. */
function madeSize(desired: Desired, observed: Observed): bigint {
  if (desired.type === 'raw') return 0n;
  if (desired.type === 'lvm' || observed.type !== 'sparse') return desired.sizeBytes;
  return desired.mode === 'Filesystem' && observed.file.type === 'file'
    ? observed.file.sizeBytes
    : (madeBytes(desired, observed) ?? desired.sizeBytes);
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
