import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { refuseStale } from '../kubelet.ts';
import { astray, isMapperLink, leadsTo, linkOf } from '../links.ts';
import { rereadPartition } from '../partx.ts';
import type { BlockDevice, DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { makeRule, mapperKey, noUdev, triggerUdev, waitForLink } from '../udev.ts';
import { hasOwnTable } from './ownership.ts';
import { checkMade } from './provision.ts';
import { inMultipath } from './refuse.ts';
import { targetOf } from './target.ts';

/** Plans the steps after which the persistent path leads to the device. */
export function planAttach(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  if ('refusal' in device) return device;
  const made = checkMade(desired, observed, device);
  if ('refusal' in made) return made;
  const { target } = observed;
  const notes =
    target.is === 'device' && target.isElsewhere
      ? [
          `${desired.devicePath} does not lead to the Volume's device, which is /dev/${device.name} by its recorded identity`,
        ]
      : [];
  return { steps: [], ...(notes.length > 0 && { notes }), ...linked(desired, observed, device) };
}

/**
 * Returns the device that the persistent path must lead to; undefined until the kernel knows it.
 */
export function volumeDevice(
  { mode }: DesiredRaw,
  device: DeviceFacts,
): Pick<BlockDevice, 'name' | 'device' | 'sizeBytes'> | undefined {
  return hasOwnTable({ mode }, device) ? device.partitions[0] : device;
}

/** Plans the part of `planAttach` that concerns the link. */
export function linked(desired: DesiredRaw, observed: ObservedRaw, device: DeviceFacts): Plan {
  const stale = refuseStale(desired, observed, [device, ...device.partitions]);
  if (stale !== undefined) return stale;
  const own = volumeDevice(desired, device);
  if (own !== undefined && leadsTo(own, observed)) return { steps: [] };
  if (own === undefined && device.mapUuid !== undefined) {
    const taken = { device: `/dev/${device.name}`, ...inMultipath(device) };
    return { ...refuse('MultipathTookDisk', taken), retryable: true };
  }
  if (!observed.udev) return noUdev(linkOf(desired));
  return {
    ...astray(desired, observed, own),
    steps: makeLink(desired, device, own?.name, observed.link !== undefined),
  };
}

/** Returns the keys of udev(7) by which the rule for the link matches the device. */
function ruleFor(desired: DesiredRaw, device: DeviceFacts): string {
  const { dmUuid = device.mapUuid, partition, presence } = device;
  // The partition of a map is a map too. The creator of a map may omit its UUID.
  if (dmUuid) return mapperKey(hasOwnTable(desired, device) ? `part1-${dmUuid}` : dmUuid);
  const number = partition?.number ?? (hasOwnTable(desired, device) ? 1 : undefined);
  const kind = number === undefined ? 'ENV{DEVTYPE}=="disk"' : `ENV{PARTN}=="${number}"`;
  if (presence !== undefined) return `${kind},ATTRS{diskseq}=="${presence.split('/')[1]}"`;
  return `${kind},${earlierKernelKey(desired, device)}`;
}

/**
 * Returns the keys for kernels before Linux 5.15. Nothing tells a disk from the next one of its
 * name there, so the content must be the Volume's too.
 */
function earlierKernelKey({ uid, mode }: DesiredRaw, { name, disk }: DeviceFacts): string {
  const content =
    mode === 'Filesystem' ? `ENV{ID_FS_UUID}=="${uid}"` : `ENV{ID_PART_ENTRY_UUID}=="${uid}"`;
  return `KERNELS=="${disk?.name ?? name}",${content}`;
}

/**
 * Returns steps that create the link. `name`: the volume's device, if the kernel already knows it.
 */
export function makeLink(
  desired: DesiredRaw,
  device: DeviceFacts,
  name: string | undefined,
  isAstray = false,
): Step[] {
  return [
    // udev itself creates the earlier path of a logical volume.
    ...(isMapperLink(desired) ? [] : makeRule(desired, ruleFor(desired, device))),
    ...(hasOwnTable(desired, device) ? [rereadPartition(1, `/dev/${device.name}`)] : []),
    triggerUdev(name ?? device.name),
    waitForLink(linkOf(desired), isAstray),
  ];
}
