import { userOf } from '../in-use.ts';
import { tooSmall } from '../mkfs.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw, Owner, Plan } from '../types.ts';

/** Why a device may not be written to, whatever anyone consents to; undefined when it may. */
export function refuseDevice(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
): Plan | undefined {
  const path = `/dev/${device.name}`;
  const { partition, partitions } = device;
  if (device.readOnly) {
    return { refusal: `${path} is read-only`, hint: 'Use a device that can be written to.' };
  }
  if (device.sizeBytes === 0n || device.type === 'rom') {
    return {
      refusal: `${path} has no medium of a size`,
      hint: 'Use a disk, a partition or a logical volume.',
    };
  }
  const owner = ownerOf(device, observed.others);
  if (owner !== undefined) {
    return {
      refusal: `${path} belongs to another Volume, ${owner.name ?? `with the UID ${owner.uid}`}`,
      hint: 'Two Volumes cannot share a device. Delete that Volume first, or use another device.',
    };
  }
  for (const each of [device, ...partitions]) {
    const user = userOf(each, observed);
    if (user !== undefined) {
      return {
        refusal: `/dev/${each.name} is in use: ${user}`,
        hint: 'Nothing is written to a device in use. Take it out of use, or use another device.',
      };
    }
  }
  if (desired.mode === 'Block' && partition !== undefined && partition.scheme !== 'gpt') {
    return {
      refusal: `${path} is partition ${partition.number} of a table of type ${partition.scheme}, whose partitions have no GUID that could become its persistent name`,
      hint: 'Use a partition of a GPT, or mode Filesystem.',
    };
  }
  if (desired.mode === 'Block' && device.dmUuid !== undefined && !device.dmUuid.startsWith('LVM-')) {
    return {
      refusal: `${path} is a device-mapper device (${device.dmUuid}) that is no logical volume`,
      hint: 'Use the disk below it, a logical volume, or mode Filesystem.',
    };
  }
  return desired.mode === 'Filesystem' && desired.fs !== undefined
    ? tooSmall(desired.fs.type, device.sizeBytes)
    : undefined;
}

/** By UUIDs that are on the device, or by what device-mapper calls it: never by the path, of which it has many. */
function ownerOf({ uuids, dmUuid }: DeviceFacts, others: readonly Owner[]): Owner | undefined {
  return others.find(
    (other) => uuids.includes(other.uid) || (dmUuid !== undefined && other.device?.dmUuid === dmUuid),
  );
}
