import { refuse } from '../../api/reasons.ts';
import { compareBytes, haveCommonIdentifier } from '../device-identity.ts';
import { type UseEnd, useOf as useOfDevice } from '../holders.ts';
import { tooSmall } from '../mkfs.ts';
import type { DesiredRaw, DeviceFacts, DeviceUsage, ObservedRaw, Owner, Plan } from '../types.ts';
import { concerned } from './preconditions.ts';

/**
 * Minimum size (bytes) of a device: a partition table and its alignment take that much, and no
 * smaller file system is of use.
 */
const MIN_SIZE = 4n << 20n;

/**
 * Refuses to write to a device, with or without consent; returns undefined if that is permitted.
 */
export function refuseDevice(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
): Plan | undefined {
  const path = `/dev/${device.name}`;
  const { partition, dmUuid } = device;
  if (device.readOnly) return refuse('DeviceReadOnly', { device: path });
  if (device.sizeBytes === 0n || device.type === 'rom') {
    return refuse('DeviceWithoutMedium', { device: path });
  }
  if (device.sizeBytes < MIN_SIZE) {
    return refuse('DeviceTooSmall', { device: path, bytes: device.sizeBytes, needed: MIN_SIZE });
  }
  if (/^\/dev\/disk\/by-(uuid|label)\//.test(desired.devicePath)) {
    return refuse('DeviceNamedByContent', { path: desired.devicePath });
  }
  if (dmUuid !== undefined && /^LVM-[^-]*-/.test(dmUuid)) {
    return refuse('DeviceInnerOfLVM', { device: path, uuid: dmUuid });
  }
  const other = ofAnother(device, observed);
  if (other !== undefined) {
    const code = other.isSure ? 'DeviceOfAnother' : 'DeviceMaybeOfAnother';
    return refuse(code, { ...other.of, instead: 'device' });
  }
  const use = useOf(device, observed);
  if (use !== undefined) {
    const isMap = concerned(device).some(({ name }) =>
      observed.devices.some(({ parent, type }) => parent === name && type === 'mpath'),
    );
    // Names no command: the owner of the device is unknown, and `why` would offer to end what the
    // node itself runs on.
    return isMap
      ? refuse('MultipathUsesDisk', { ...use.seen, ...inMultipath(device) })
      : refuse('DeviceNotFree', use.seen);
  }
  if (desired.mode === 'Block' && partition !== undefined) {
    const { number, inTable, scheme } = partition;
    if (scheme !== 'gpt') return refuse('PartitionWithoutGUID', { device: path, number, scheme });
    if (inTable !== number) {
      const found = inTable === undefined ? 'none' : `partition ${inTable}`;
      return refuse('PartitionTableUnread', { device: path, number, found });
    }
  }
  if (desired.mode === 'Block' && device.mapUuid !== undefined) {
    return refuse('MultipathMapUndivided', { device: path, ...inMultipath(device) });
  }
  if (desired.mode === 'Block' && dmUuid !== undefined && !dmUuid.startsWith('LVM-')) {
    return refuse('MapperDeviceNotLVM', { device: path, uuid: dmUuid });
  }
  return desired.mode === 'Filesystem' && desired.fs !== undefined
    ? tooSmall(desired.fs.type, device.sizeBytes)
    : undefined;
}

/**
 * Returns the name of a disk for multipathd. multipath.conf(5): a SCSI disk's WWID is `3` and its
 * WWN.
 */
export function inMultipath({
  mapUuid,
  wwn,
  disk,
  name,
}: DeviceFacts): { wwid: string } | { disk: string } {
  const hex = /^0x([0-9a-f]+)$/.exec(wwn ?? disk?.wwn ?? '')?.[1];
  const wwid = mapUuid?.replace('mpath-', '') ?? (hex && `3${hex}`);
  return wwid ? { wwid } : { disk: `/dev/${disk?.name ?? name}` };
}

/**
 * Returns the observed use of a device, by any path, and what ends it; undefined if there is none.
 */
export function useOf(
  device: DeviceFacts,
  users: DeviceUsage,
): { seen: { device: string; path?: string; uses: string }; ended: UseEnd } | undefined {
  for (const each of concerned(device)) {
    const use = useOfDevice(each, users);
    if (use === undefined) continue;
    const path = device.otherPaths.includes(each) ? { path: `/dev/${device.name}` } : {};
    return { seen: { device: `/dev/${each.name}`, ...path, uses: use.by }, ended: use.ended };
  }
  return undefined;
}

/**
 * Returns the other Volume that has the device, or may have it; undefined if none is known. A disk
 * with an identifier in common is another Volume's until a strong identifier tells them apart: when
 * in doubt, nothing is written.
 */
export function ofAnother(device: DeviceFacts, { others }: Pick<ObservedRaw, 'others'>) {
  const owner = others.find((other) => isOwner(other, device));
  const like = owner ?? others.find((other) => mayBeOwner(other, device));
  if (like === undefined) return undefined;
  const { name, uid } = like;
  const of = {
    device: `/dev/${device.name}`,
    ...(name === undefined ? { uid } : { volume: name }),
  };
  return { isSure: owner !== undefined, of };
}

/**
 * Reports whether a Volume owns the device, by UUIDs on it, device-mapper UUID, or the disk's
 * identity. A device that is being wiped carries nothing. A path proves nothing, because a disk has
 * many.
 */
const isOwner = ({ uid, device: recorded }: Owner, device: DeviceFacts): boolean =>
  device.uuids.includes(uid) ||
  (device.dmUuid !== undefined && recorded?.dmUuid === device.dmUuid) ||
  (recorded !== undefined && compareBytes(recorded, device) === 'same');

const mayBeOwner = ({ device: recorded }: Owner, device: DeviceFacts): boolean =>
  recorded !== undefined &&
  compareBytes(recorded, device) === 'unknown' &&
  haveCommonIdentifier(recorded, device);
