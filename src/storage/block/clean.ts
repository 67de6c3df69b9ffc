import type { Precondition, Step } from '../../nodes/job.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw } from '../types.ts';
import { readsZero, wipe } from '../wipe.ts';
import { hasOwnTable, isOurs } from './ownership.ts';
import {
  emptyPreconditions,
  lockOf,
  notInUsePreconditions,
  sameContentPreconditions,
  sameDevicePreconditions,
} from './preconditions.ts';

/**
 * Returns steps that overwrite every byte, from the offset that an earlier attempt reached.
 * @param known the device is certainly the Volume's, whatever it carries
 */
export function wipeDevice(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
  { known, thin = false }: { known: boolean; thin?: boolean },
): Step[] {
  const { wiped } = observed;
  if (wiped === device.sizeBytes) return [];
  const begun = wiped !== undefined;
  const path = `/dev/${device.name}`;
  // The backup of the table is at the end, and would for long be the only mark of the owner on a
  // disk without identifiers. Until udev has the kernel read the table again, there are no
  // partitions to observe. A partition in use keeps the disk from being opened exclusively, which
  // is checked.
  const first =
    hasOwnTable(desired, device) && device.content !== ''
      ? [takeSignatureOff({ ...device, partitions: [] })]
      : [];
  const preconditions: Precondition[] = [
    ...sameDevicePreconditions(device),
    ...notInUsePreconditions(device),
  ];
  const forget: Step[] =
    device.partitions.length === 0
      ? []
      : [
          {
            name: `remove the partitions of ${path} from the kernel`,
            argv: ['partx', '--delete', path],
            preconditions: [...preconditions, ...(begun ? [] : sameContentPreconditions(device))],
            lock: lockOf(device),
            // udev makes the kernel reread the table whenever a disk that was open for writing is
            // closed.
            failureMeansConflict: true,
          },
        ];
  return [
    ...forget,
    ...(begun && !isOurs(desired, device) && !known ? [readBack(device, wiped)] : []),
    ...wipe(desired.uid, path, device.sizeBytes, wiped, {
      first,
      known: sameContentPreconditions(device),
      preconditions: [
        ...sameDevicePreconditions(device),
        ...notInUsePreconditions({ ...device, partitions: [] }),
      ],
      untouched: first.length > 0 ? emptyPreconditions(device) : sameContentPreconditions(device),
      lock: lockOf(device),
      isFile: false,
      thin,
    }),
  ];
}

/**
 * Returns a step that recognizes a disk without identifiers by its wiped part, before more of it is
 * wiped.
 */
function readBack(device: DeviceFacts, wiped: bigint): Step {
  const path = `/dev/${device.name}`;
  return {
    name: `verify the part of ${path} that was wiped before`,
    argv: readsZero(path, wiped > 0n ? wiped : undefined),
    preconditions: sameDevicePreconditions(device),
  };
}

export function takeSignatureOff(device: DeviceFacts): Step {
  const path = `/dev/${device.name}`;
  return {
    name: `remove the Volume's signature from ${path}`,
    argv: ['wipefs', '--all', '--force', path],
    preconditions: [
      ...sameDevicePreconditions(device),
      ...notInUsePreconditions(device),
      ...sameContentPreconditions(device),
    ],
    lock: lockOf(device),
  };
}
