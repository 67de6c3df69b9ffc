import { formatBytes } from '../../api/quantity.ts';
import { deviceOf } from '../../storage/device.ts';
import { type Desired, driverOf, type Observed } from '../../storage/registry.ts';
import type { StatusFields } from './status.ts';
import type { Input } from './types.ts';

/**
 * What the status tells of a volume, as read from the node that it was looked at on. Without a device, which is made where
 * a pod needs it, there is no deviceName, and the rest stays as it was when there was one.
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
    // Of a status that was lost: what is there was made by some attempt.
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
