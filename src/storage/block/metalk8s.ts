import { refuse } from '../../api/reasons.ts';
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
 * Plans the records of a device that MetalK8s prepared. Nothing on a logical volume in mode Block
 * shows its owner: the takeover checks that the PersistentVolume leads to its link.
 */
export function planMetalk8sRecords(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  if ('refusal' in device) return device;
  const other = ofAnother(device, observed);
  if (other !== undefined) {
    const code = other.isSure ? 'RecognisedDeviceOfAnother' : 'RecognisedDeviceMaybeOfAnother';
    return refuse(code, other.of);
  }
  const path = `/dev/${device.name}`;
  if (!isOurs(desired, device)) {
    const content = device.content || 'nothing';
    return refuse('RecognisedContentDiffers', { device: path, content });
  }
  const link = linked(desired, observed, device);
  if ('refusal' in link) return link;
  return link.steps.length > 0
    ? refuse('LinkLeadsElsewhere', { link: linkOf(desired), device: path })
    : recordDevice(desired, observed, device);
}

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
