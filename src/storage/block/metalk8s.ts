import { linkOf } from '../links.ts';
import { metalk8sRecords } from '../metalk8s-records.ts';
import { intentOf } from '../records.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { linked } from './attach.ts';
import { isOurs } from './ownership.ts';
import { sameContentPreconditions, sameDevicePreconditions } from './preconditions.ts';
import { ofAnother } from './refuse.ts';
import { targetOf } from './target.ts';

/**
 * What remains to be recorded of a device that MetalK8s made ready. Nothing on a logical volume in mode Block tells whose it
 * is: whoever takes it over looks whether the PersistentVolume leads to its link.
 */
export function planMetalk8sRecords(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  if ('refusal' in device) return device;
  const other = ofAnother(device, observed);
  if (other !== undefined) {
    return {
      refusal: other,
      hint: 'Two Volumes cannot share a device. Delete one of them, with MetalK8s.',
    };
  }
  if (!isOurs(desired, device)) {
    return {
      refusal: `/dev/${device.name} carries ${device.content || 'nothing'}, and not what MetalK8s makes for this Volume`,
      hint: 'It was overwritten or exchanged. It is left as it is.',
    };
  }
  const link = linked(desired, observed, device);
  if ('refusal' in link) return link;
  if (link.steps.length > 0) {
    return {
      refusal: `${linkOf(desired)} does not lead to /dev/${device.name}`,
      hint: 'Another device carries the same UUID, or the kernel has not read the table: look at lsblk -o NAME,UUID,PARTUUID.',
    };
  }
  return recordDevice(desired, observed, device);
}

/** The records of a device that was recognised. */
export function recordDevice(
  desired: DesiredRaw,
  observed: ObservedRaw,
  device: DeviceFacts,
): Plan {
  const { identity, dmUuid, signature, sizeBytes } = device;
  const place = { path: desired.devicePath, identity, ...(dmUuid === undefined ? {} : { dmUuid }) };
  const isFileSystem = desired.mode === 'Filesystem' && signature.found === 'one';
  const wanted = {
    ...intentOf(desired, { device: place }, sizeBytes),
    fsType: isFileSystem ? signature.type : '',
    signature: device.content || 'none',
  };
  const preconditions = [...sameDevicePreconditions(device), ...sameContentPreconditions(device)];
  return metalk8sRecords(wanted, sizeBytes, observed, preconditions);
}
