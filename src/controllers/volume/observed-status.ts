import { formatBytes } from '../../api/quantity.ts';
import { deviceOf } from '../../storage/device.ts';
import { type Desired, driverOf, type Observed } from '../../storage/registry.ts';
import type { StatusFields } from './status.ts';
import type { Input } from './types.ts';

/**
 * Returns the status fields of a volume as observed on a node. Without a device, which is attached
 * where a pod needs it, clears `deviceName` and keeps the other fields.
 */
export function observedStatus(
  { volume, node }: Pick<Input, 'volume' | 'node'>,
  observed: Observed,
  desired: Desired,
): StatusFields {
  const { status = {} } = volume;
  const found = deviceOf(desired, observed);
  const driver = driverOf(desired, observed);
  return {
    // The status may have been lost: some attempt provisioned the volume.
    attempt: status.attempt ?? 1,
    ...(found.device === undefined
      ? {
          deviceName: undefined,
          capacity: status.capacity ?? formatBytes(driver.madeBytes(desired, observed)),
          devicePath: status.devicePath ?? found.link,
        }
      : {
          deviceName: found.device.name,
          capacity: formatBytes(found.device.sizeBytes),
          devicePath: found.link,
        }),
    prepared:
      status.prepared === undefined
        ? { node, paths: [driver.place(desired)], identity: found.identity }
        : {
            ...status.prepared,
            identity:
              driver.renewIdentity?.(status.prepared.identity, found) ?? status.prepared.identity,
          },
  };
}
