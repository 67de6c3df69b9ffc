import { refuse } from '../../api/reasons.ts';
import type { Step } from '../../nodes/job.ts';
import { refuseStale } from '../kubelet.ts';
import { astray, isMapperLink, leadsTo, linkOf } from '../links.ts';
import { tellKernel } from '../partx.ts';
import type { BlockDevice, DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { lookAgain, makeRule, mapperKey, noUdev, waitForLink } from '../udev.ts';
import { hasOwnTable } from './ownership.ts';
import { checkMade } from './provision.ts';
import { inMultipath } from './refuse.ts';
import { targetOf } from './target.ts';

/** What remains to be done until the persistent link leads to the device. */
export function planAttach(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  if ('refusal' in device) return device;
  const made = checkMade(desired, observed, device);
  if ('refusal' in made) return made;
  const { target } = observed;
  const notes =
    target.is === 'device' && target.isElsewhere
      ? [
          `${desired.devicePath} does not lead to the Volume's device: that is /dev/${device.name}, by its recorded identity`,
        ]
      : [];
  return { steps: [], ...(notes.length > 0 && { notes }), ...linked(desired, observed, device) };
}

/** The device that the persistent link must lead to, once the kernel knows it. */
export function volumeDevice(
  { mode }: DesiredRaw,
  device: DeviceFacts,
): Pick<BlockDevice, 'name' | 'device' | 'sizeBytes'> | undefined {
  return hasOwnTable({ mode }, device) ? device.partitions[0] : device;
}

/** The part of `planAttach` that is about the link. */
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
  // The partition of a map is a map, too. Whoever makes a map may leave its UUID out.
  if (dmUuid) return mapperKey(hasOwnTable(desired, device) ? `part1-${dmUuid}` : dmUuid);
  const number = partition?.number ?? (hasOwnTable(desired, device) ? 1 : undefined);
  const kind = number === undefined ? 'ENV{DEVTYPE}=="disk"' : `ENV{PARTN}=="${number}"`;
  if (presence !== undefined) return `${kind},ATTRS{diskseq}=="${presence.split('/')[1]}"`;
  return `${kind},${earlierKernelKey(desired, device)}`;
}

/** Before Linux 5.15 nothing tells a disk from the next one of its name: what is on it must be the Volume's, too. */
function earlierKernelKey({ uid, mode }: DesiredRaw, { name, disk }: DeviceFacts): string {
  const content =
    mode === 'Filesystem' ? `ENV{ID_FS_UUID}=="${uid}"` : `ENV{ID_PART_ENTRY_UUID}=="${uid}"`;
  return `KERNELS=="${disk?.name ?? name}",${content}`;
}

/** `name` is that of the volume's device where the kernel knows it already. */
export function makeLink(
  desired: DesiredRaw,
  device: DeviceFacts,
  name: string | undefined,
  isAstray = false,
): Step[] {
  return [
    // udev itself makes a logical volume's earlier path.
    ...(isMapperLink(desired) ? [] : makeRule(desired, ruleFor(desired, device))),
    ...(hasOwnTable(desired, device) ? [tellKernel(1, `/dev/${device.name}`)] : []),
    lookAgain(name ?? device.name),
    waitForLink(linkOf(desired), isAstray),
  ];
}
