import type { ProbeResult } from '../../nodes/job.ts';
import { compareDevice, haveCommonIdentifier, identityText } from '../device-identity.ts';
import { fromHex } from '../device-usage.ts';
import { notUnderstood, ObservationError, optional } from '../probe-results.ts';
import { readRecords } from '../records.ts';
import type { BlockDevice, DesiredRaw, DeviceUsage } from '../types.ts';
import { diskOf } from './device-probes.ts';

/** Device that a Volume is on, or will be on. */
interface Located {
  row: BlockDevice;
  /** True if the path does not lead to the device, which was found by its recorded identity. */
  isElsewhere: boolean;
}

/**
 * Description of a device node without a disk: the disk is gone, or the kernel is rereading its
 * partition.
 */
export const NO_DISK = 'device node without a disk behind it';

/**
 * Returns the device that a Volume's path leads to; undefined for none, a text for what is no block
 * device. Two cases lead further:
 * - a path of a multipath disk, to the map on top of it, the only usable path then;
 * - a provisioned device that the path does not lead to any more, because an update renamed links,
 *   or a reboot disks. It is found by its recorded strong identifier; or, by its serial number, as
 *   the target of udev's link for the Volume's UUID or GUID.
 * @throws ObservationError for an answer that leaves open what is on the node
 */
export function locate(
  get: (name: string) => ProbeResult,
  users: DeviceUsage,
  desired: Pick<DesiredRaw, 'recorded' | 'identity'>,
): Located | string | undefined {
  const target = readTarget(get('target'));
  const row = typeof target === 'object' ? rowOf(target.device, users) : undefined;
  const recorded = recordedIdentity(get, desired);
  const isWrong = row === undefined || compareRow(recorded, row, users) === 'different';
  const own = isWrong && recorded !== undefined ? findRow(recorded, get, users) : undefined;
  if (own !== undefined) return { row: mapOf(own, users), isElsewhere: true };
  if (row !== undefined) return { row: mapOf(row, users), isElsewhere: false };
  return typeof target === 'object' ? NO_DISK : target;
}

/**
 * Returns the device at the path; undefined if nothing exists, a text for what is no block device.
 */
function readTarget(result: ProbeResult): { device: string } | string | undefined {
  const stat = optional('the device path', result);
  if (stat === undefined) return undefined;
  const [, type = '', device = ''] = /^([^|]+)\|([0-9a-f]+:[0-9a-f]+)$/.exec(stat.trim()) ?? [];
  if (type === '') throw new ObservationError(notUnderstood('stat', stat));
  return type === 'block special file' ? { device: fromHex(device) } : type;
}

/**
 * Returns undefined for a device node that has outlived its disk, or a loop device without a file.
 */
const rowOf = (device: string, { devices }: DeviceUsage): BlockDevice | undefined =>
  devices.find((each) => each.device === device);

/** Returns undefined if the Volume is not provisioned on any device yet. */
function recordedIdentity(
  get: (name: string) => ProbeResult,
  { recorded, identity }: Pick<DesiredRaw, 'recorded' | 'identity'>,
): string | undefined {
  const { intent, done } = readRecords(get);
  return recorded || done !== undefined ? (identity ?? intent?.device?.identity) : undefined;
}

function findRow(
  recorded: string,
  get: (name: string) => ProbeResult,
  users: DeviceUsage,
): BlockDevice | undefined {
  const link = optional('content link', get('content link'));
  const linked = link === undefined ? undefined : diskRow(fromHex(link), recorded, users);
  const isLike = (row: BlockDevice) =>
    haveCommonIdentifier({ identity: recorded }, { identity: identityOf(row, users) });
  if (linked !== undefined && compareRow(recorded, linked, users) !== 'different' && isLike(linked))
    return linked;
  return users.devices.find((row) => compareRow(recorded, row, users) === 'same');
}

/** Returns the device that the link leads to, or its disk if the Volume has the whole disk. */
function diskRow(device: string, recorded: string, users: DeviceUsage): BlockDevice | undefined {
  const row = rowOf(device, users);
  return row?.type === 'part' && !/(^| )partition=/.test(recorded)
    ? diskOf(row, users.devices)
    : row;
}

const compareRow = (recorded: string | undefined, row: BlockDevice, users: DeviceUsage) =>
  compareDevice({ identity: recorded }, { identity: identityOf(row, users) });

/** Returns the identity of a device as far as lsblk reports it. */
function identityOf(row: BlockDevice, { devices }: DeviceUsage): string {
  // kpartx names its partitions differently.
  const number = row.type === 'part' ? /^(?!dm-).*?(\d+)$/.exec(row.name)?.[1] : undefined;
  return identityText({
    disk: diskOf(row, devices),
    dmUuid: undefined,
    partition: number === undefined ? undefined : { number: Number(number), guid: undefined },
    sizeBytes: row.sizeBytes,
  });
}

/** Returns the multipath map of a disk's paths; the device itself if there is none. */
const mapOf = (row: BlockDevice, { devices }: DeviceUsage): BlockDevice =>
  devices.find(({ type, parent }) => type === 'mpath' && parent === row.name) ?? row;
