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

/** The disk that a device is, or is a partition of. */
export const diskPath = (device: DeviceFacts) => `/dev/${wholeDisk(device)}`;

/** The disk that is locked while a device is written to: one and the same by whichever path it is. */
export function lockOf(device: DeviceFacts): string {
  const others = device.otherPaths.filter(({ type }) => type === 'disk').map(({ name }) => name);
  return `/dev/${[wholeDisk(device), ...others].sort()[0]}`;
}

/** It is the device that was looked at, by all that the kernel says of it. */
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

/** Device-mapper's devices have no serial number, and two of one size are alike in all else. */
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

/** It carries what it carried, to the letter. */
export const sameContentPreconditions = (device: DeviceFacts): Precondition[] =>
  sameAsPrinted({ ...device, ...device.printed, isBlank: undefined });

/** Preconditions that a device has the partitions that it had, and that each carries what it carried. A table tells nothing of that. */
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

/** Of what cannot be read, blkid and wipefs print nothing. */
const readablePreconditions = ({
  name,
  sizeBytes,
}: Pick<DeviceFacts, 'name' | 'sizeBytes'>): Precondition[] =>
  endsReadable(`/dev/${name}`, sizeBytes).map((argv) => ({
    argv,
    expect: { exit: 0 },
    ...refuse('ContentUnreadable', { device: `/dev/${name}` }),
  }));

/** Nothing is on it (any more). */
export function emptyPreconditions(
  device: Pick<DeviceFacts, 'name' | 'sizeBytes' | 'partition'>,
): Precondition[] {
  const { name, partition } = device;
  const filled = refuse('DeviceNotEmpty', { device: `/dev/${name}` });
  return [
    ...readablePreconditions(device),
    {
      // A partition always has an entry in its table, which blkid finds: 0. Else it finds nothing: 2.
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
 * The device, its partitions, for a partition its disk, and all of them by other paths: what must be out of use before the
 * device is written to.
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

/** Nobody uses it, a partition of it or the disk that it is on. */
export const notInUsePreconditions = (device: DeviceFacts): Precondition[] => [
  ...concerned(device).flatMap(notInUse),
  notClaimed(device),
];

/** That no process has it open. These are looked at before there is a lock, which is held by opening the disk. */
export function notOpenPreconditions({
  partitions,
  disk,
  otherPaths,
  ...device
}: DeviceFacts): Precondition[] {
  // Jobs for other partitions of the disk hold its lock, for which they have it open to read.
  const isDisk = ({ type }: BlockDevice) => disk !== undefined && type === 'disk';
  return [
    ...[device, ...partitions, ...otherPaths.filter((each) => !isDisk(each))].map(notOpen),
    ...(disk === undefined ? [] : [disk, ...otherPaths.filter(isDisk)]).map(notOpenToWrite),
  ];
}
