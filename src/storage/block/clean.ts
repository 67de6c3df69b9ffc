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
 * Overwrites every byte, from where an earlier try came to.
 * @param known it is certain that it is the Volume's device, whatever it carries
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
  // A copy of the table is at the end, and would for long be all that a disk without a name shows of whose it is.
  const first =
    hasOwnTable(desired, device) && device.content !== '' ? [takeSignatureOff(device)] : [];
  const preconditions: Precondition[] = [
    ...sameDevicePreconditions(device),
    ...notInUsePreconditions(device),
  ];
  const forget: Step[] =
    device.partitions.length === 0
      ? []
      : [
          {
            name: `have the kernel forget the partitions of ${path}`,
            argv: ['partx', '--delete', path],
            preconditions: [...preconditions, ...(begun ? [] : sameContentPreconditions(device))],
            lock: lockOf(device),
            // udev has the kernel read the table anew, whenever a disk is closed that was open to write.
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

/** A disk without a name of its own is known by what was done to it before anything more is. */
function readBack(device: DeviceFacts, wiped: bigint): Step {
  const path = `/dev/${device.name}`;
  return {
    name: `read back what was wiped of ${path} before`,
    argv: readsZero(path, wiped > 0n ? wiped : undefined),
    preconditions: sameDevicePreconditions(device),
  };
}

export function takeSignatureOff(device: DeviceFacts): Step {
  const path = `/dev/${device.name}`;
  return {
    name: `take the Volume's signature off ${path}`,
    argv: ['wipefs', '--all', '--force', path],
    preconditions: [
      ...sameDevicePreconditions(device),
      ...notInUsePreconditions(device),
      ...sameContentPreconditions(device),
    ],
    lock: lockOf(device),
  };
}
