import { refuse } from '../../api/reasons.ts';
import type { Precondition } from '../../nodes/job.ts';
import { blankPreconditions } from '../blank.ts';
import { notClaimed, notInUse, notOpen, notOpenToWrite } from '../in-use.ts';
import { blkid, endsReadable } from '../signature.ts';
import type { BlockDevice, DeviceFacts } from '../types.ts';
import {
  belowProbe,
  diskseqProbe,
  dmUuidProbe,
  identityProbe,
  wholeDisk,
} from './device-probes.ts';

/** Returns the path of the disk that a device is, or is a partition of. */
export const diskPath = (device: DeviceFacts) => `/dev/${wholeDisk(device)}`;

/** Returns the disk to lock while a device is written to: the same one by any path. */
export function lockOf(device: DeviceFacts): string {
  const others = device.otherPaths.filter(({ type }) => type === 'disk').map(({ name }) => name);
  return `/dev/${[wholeDisk(device), ...others].sort()[0]}`;
}

/** Requires that the device is the observed one, by all that the kernel reports of it. */
export function sameDevicePreconditions(device: DeviceFacts): Precondition[] {
  const { name, printed, presence } = device;
  const changed = refuse('DeviceChanged', { device: `/dev/${name}` });
  const same: Precondition = {
    argv: identityProbe(name),
    expect: { exit: 0, stdout: { is: printed.identity } },
    ...changed,
  };
  const named = [same, ...sameDmPreconditions(device)];
  if (presence === undefined) return named;
  const [, diskseq = ''] = presence.split('/');
  return [
    ...named,
    {
      argv: diskseqProbe(wholeDisk(device)),
      expect: { exit: 0, stdout: { is: diskseq } },
      ...changed,
    },
  ];
}

/**
 * Requires the same device-mapper UUID: these devices have no serial number, and two of one size
 * are otherwise alike.
 */
export function sameDmPreconditions(
  device: Pick<DeviceFacts, 'name' | 'dmUuid' | 'mapUuid'>,
): Precondition[] {
  const { name, dmUuid, mapUuid } = device;
  const uuid = dmUuid ?? mapUuid;
  if (uuid === undefined) return [];
  return [
    {
      argv: dmUuidProbe(name),
      expect: { exit: 0, stdout: { is: uuid } },
      ...refuse('DeviceChanged', { device: `/dev/${name}` }),
    },
  ];
}

/** Requires that the device carries exactly the observed content. */
export const sameContentPreconditions = (device: DeviceFacts): Precondition[] =>
  sameAsPrinted({ ...device, ...device.printed, isBlank: undefined });

/**
 * Requires that a device has the same partitions, and each the same content, which the table does
 * not show.
 */
export const samePartsPreconditions = ({
  name,
  printed,
  printedParts,
}: DeviceFacts): Precondition[] => [
  {
    argv: belowProbe(name),
    expect: { exit: 0, stdout: { is: printed.below } },
    ...refuse('PartitionsChanged', { device: `/dev/${name}` }),
  },
  ...printedParts.flatMap(sameAsPrinted),
];

function sameAsPrinted(device: DeviceFacts['printedParts'][number]): Precondition[] {
  const { name, blkidExit, isBlank } = device;
  const changed = refuse('ContentChanged', { device: `/dev/${name}` });
  return [
    ...readablePreconditions(device),
    {
      argv: blkid(`/dev/${name}`),
      expect: { exit: blkidExit, stdout: { is: device.blkid } },
      ...changed,
    },
    {
      argv: ['wipefs', '-J', '-n', `/dev/${name}`],
      expect: { exit: 0, stdout: { is: device.wipefs } },
      ...changed,
    },
    ...(isBlank ? blankPreconditions(device) : []),
  ];
}

/** Requires that a device is readable: of an unreadable one, blkid and wipefs print nothing. */
const readablePreconditions = ({
  name,
  sizeBytes,
}: Pick<DeviceFacts, 'name' | 'sizeBytes'>): Precondition[] =>
  endsReadable(`/dev/${name}`, sizeBytes).map((argv) => ({
    argv,
    expect: { exit: 0 },
    ...refuse('ContentUnreadable', { device: `/dev/${name}` }),
  }));

/** Requires that a device is empty. */
export function emptyPreconditions(
  device: Pick<DeviceFacts, 'name' | 'sizeBytes' | 'partition'>,
): Precondition[] {
  const { name, partition } = device;
  const filled = refuse('DeviceNotEmpty', { device: `/dev/${name}` });
  return [
    ...readablePreconditions(device),
    {
      // blkid exits 0 for a partition, which always has an entry in its table, and otherwise 2.
      argv: ['blkid', '-p', '-o', 'value', '-s', 'TYPE', '-s', 'PTTYPE', `/dev/${name}`],
      expect: { exit: partition === undefined ? 2 : 0, stdout: { is: '' } },
      ...filled,
    },
    {
      argv: ['wipefs', '-n', '-i', '-O', 'TYPE', `/dev/${name}`],
      expect: { exit: 0, stdout: { is: '' } },
      ...filled,
    },
  ];
}

/**
 * Returns the devices that must be unused before a write: the device, its partitions, the disk of a
 * partition, and all of these by other paths.
 */
export const concerned = ({
  partitions,
  disk,
  otherPaths,
  ...device
}: DeviceFacts): readonly BlockDevice[] => [
  device,
  ...partitions,
  ...(disk === undefined ? [] : [disk]),
  ...otherPaths,
];

/** Requires that nothing uses the device, its partitions or the disk that it is on. */
export const notInUsePreconditions = (device: DeviceFacts): Precondition[] => [
  ...concerned(device).flatMap(notInUse),
  notClaimed(device),
];

/**
 * Requires that no process has the device open. Check this before the lock, which opens the disk.
 */
export function notOpenPreconditions({
  partitions,
  disk,
  otherPaths,
  ...device
}: DeviceFacts): Precondition[] {
  // Jobs for other partitions of the disk hold its lock, for which they have it open for reading.
  const isDisk = ({ type }: BlockDevice) => disk !== undefined && type === 'disk';
  return [
    ...[device, ...partitions, ...otherPaths.filter((each) => !isDisk(each))].map(notOpen),
    ...(disk === undefined ? [] : [disk, ...otherPaths.filter(isDisk)]).map(notOpenToWrite),
  ];
}
