import { compareBytes, haveCommonIdentifier } from '../device-identity.ts';
import { useOf as useOfDevice } from '../holders.ts';
import { tooSmall } from '../mkfs.ts';
import type { DesiredRaw, DeviceFacts, DeviceUsage, ObservedRaw, Owner, Plan } from '../types.ts';
import { concerned } from './preconditions.ts';

/** A partition table and what aligns it take that much, and no file system is of use in less. Bytes. */
const MIN_SIZE = 4n << 20n;

/** Why a device may not be written to, whatever anyone consents to; undefined when it may. */
export function refuseDevice(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
): Plan | undefined {
  const path = `/dev/${device.name}`;
  const { partition } = device;
  if (device.readOnly) {
    return { refusal: `${path} is read-only`, hint: 'Use a device that can be written to.' };
  }
  if (device.sizeBytes === 0n || device.type === 'rom') {
    return {
      refusal: `${path} has no medium of a size`,
      hint: 'Use a disk, a partition or a logical volume.',
    };
  }
  if (device.sizeBytes < MIN_SIZE) {
    return {
      refusal: `${path} has ${device.sizeBytes} bytes, and a Volume needs ${MIN_SIZE} at least`,
      hint: 'Use a larger device.',
    };
  }
  if (/^\/dev\/disk\/by-(uuid|label)\//.test(desired.devicePath)) {
    return {
      refusal: `${desired.devicePath} is named after what is on the device, and goes with it`,
      hint: 'Name the device by what lasts: a path below /dev/disk/by-id or /dev/disk/by-path.',
    };
  }
  if (/^LVM-[^-]*-/.test(device.dmUuid ?? '')) {
    return {
      refusal: `${path} is an inner part of a logical volume (${device.dmUuid}), such as what a thin pool keeps its volumes in`,
      hint: 'Use a logical volume itself. What LVM keeps for itself is in use, also where nothing has it open.',
    };
  }
  const other = ofAnother(device, observed);
  if (other !== undefined) {
    return {
      refusal: other,
      hint: 'Two Volumes cannot share a device. Delete that Volume first, or use another device. What a Volume that is gone left on the node is listed by stowage check node.',
    };
  }
  const use = useOf(device, observed);
  if (use !== undefined) {
    const isMap = concerned(device).some(({ name }) =>
      observed.devices.some(({ parent, type }) => parent === name && type === 'mpath'),
    );
    return {
      refusal: use.refusal,
      hint: isMap
        ? leaveOutOfMultipath(device)
        : // Without a command: whose device it is, nobody knows, and `why` would offer to end what the node itself runs on.
          'Nothing is written to a device in use. Use another device, or take it out of use.',
    };
  }
  if (desired.mode === 'Block' && partition !== undefined && partition.scheme !== 'gpt') {
    return {
      refusal: `${path} is partition ${partition.number} of a table of type ${partition.scheme}, whose partitions have no GUID that could become its persistent name`,
      hint: 'Use a partition of a GPT, or mode Filesystem.',
    };
  }
  if (
    desired.mode === 'Block' &&
    partition !== undefined &&
    partition.inTable !== partition.number
  ) {
    return {
      refusal: `the kernel has ${path} as partition ${partition.number}, and the partition table has ${partition.inTable === undefined ? 'none' : `partition ${partition.inTable}`} at its place`,
      hint: 'The table was changed since the kernel read it. Have it read anew: partprobe, or a restart of the node.',
    };
  }
  if (desired.mode === 'Block' && device.mapUuid !== undefined) {
    return {
      refusal: `${path} is a map of multipathd, on which the kernel makes no partitions`,
      hint: `Use mode Filesystem, or a logical volume on it. ${leaveOutOfMultipath(device)}`,
    };
  }
  if (
    desired.mode === 'Block' &&
    device.dmUuid !== undefined &&
    !device.dmUuid.startsWith('LVM-')
  ) {
    return {
      refusal: `${path} is a device-mapper device (${device.dmUuid}) that is no logical volume`,
      hint: 'Use the disk below it, a logical volume, or mode Filesystem.',
    };
  }
  return desired.mode === 'Filesystem' && desired.fs !== undefined
    ? tooSmall(desired.fs.type, device.sizeBytes)
    : undefined;
}

/** multipath.conf(5): a SCSI disk's WWID is `3` and its WWN. */
export function leaveOutOfMultipath({ mapUuid, wwn, disk, name }: DeviceFacts): string {
  const hex = /^0x([0-9a-f]+)$/.exec(wwn ?? disk?.wwn ?? '')?.[1];
  const wwid = mapUuid?.replace('mpath-', '') ?? (hex && `3${hex}`);
  const add = wwid
    ? `wwid "${wwid}"`
    : `the WWID that /lib/udev/scsi_id -g -u /dev/${disk?.name ?? name} prints`;
  return `If the disk has one path only, leave it out of multipath: add ${add} to the blacklist section of /etc/multipath.conf on the node, then: multipath -F && multipathd reconfigure.`;
}

/** Returns which use of a device, by whatever path, is seen, and what ends it; undefined where none is. */
export function useOf(
  device: DeviceFacts,
  users: DeviceUsage,
): { refusal: string; end: string } | undefined {
  for (const each of concerned(device)) {
    const use = useOfDevice(each, users);
    if (use === undefined) continue;
    const other = device.otherPaths.includes(each)
      ? `, another path of the disk of /dev/${device.name},`
      : '';
    return { refusal: `/dev/${each.name}${other} is in use: ${use.by}`, end: use.end };
  }
  return undefined;
}

/**
 * Returns that another Volume has the device, or may have it: undefined where none is known to. A disk with an identifier in common
 * is another Volume's until a strong identifier tells them apart: who is unsure does not write.
 */
export function ofAnother(
  device: DeviceFacts,
  { others }: Pick<ObservedRaw, 'others'>,
): string | undefined {
  const path = `/dev/${device.name}`;
  const owner = others.find((other) => isOwner(other, device));
  if (owner !== undefined) return `${path} belongs to another Volume, ${nameOf(owner)}`;
  const like = others.find((other) => mayBeOwner(other, device));
  return (
    like &&
    `${path} may belong to another Volume, ${nameOf(like)}: its disk has the same serial number or WWN, and nothing that is on record tells the two apart`
  );
}

const nameOf = ({ name, uid }: Owner): string => name ?? `with the UID ${uid}`;

/**
 * By UUIDs that are on the device, by what device-mapper calls it, or by what tells the disk from any other (one that is
 * being wiped carries nothing): never by the path, of which it has many.
 */
const isOwner = ({ uid, device: recorded }: Owner, device: DeviceFacts): boolean =>
  device.uuids.includes(uid) ||
  (device.dmUuid !== undefined && recorded?.dmUuid === device.dmUuid) ||
  (recorded !== undefined && compareBytes(recorded, device) === 'same');

const mayBeOwner = ({ device: recorded }: Owner, device: DeviceFacts): boolean =>
  recorded !== undefined &&
  compareBytes(recorded, device) === 'unknown' &&
  haveCommonIdentifier(recorded, device);
