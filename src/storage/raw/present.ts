import type { Step } from '../../nodes/job.ts';
import { refuseStale } from '../kubelet.ts';
import { linkOf } from '../links.ts';
import { tellKernel } from '../partx.ts';
import type { BlockDevice, DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { linkAnyway, lookAgain, noUdev, waitForLink } from '../udev.ts';
import { hasOwnTable } from './ours.ts';
import { checkMade } from './prepare.ts';
import { leaveOutOfMultipath } from './refuse.ts';
import { targetOf } from './target.ts';

/** What remains to be done until the persistent link leads to the device. */
export function planPresent(desired: DesiredRaw, observed: ObservedRaw): Plan {
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

/** The part of `planPresent` that is about the link. */
export function linked(desired: DesiredRaw, observed: ObservedRaw, device: DeviceFacts): Plan {
  const stale = refuseStale(desired, observed, [device, ...device.partitions]);
  if (stale !== undefined) return stale;
  const own = volumeDevice(desired, device);
  if (own !== undefined && leadsTo(own, observed)) return { steps: [] };
  if (own === undefined && device.mapUuid !== undefined) {
    return {
      refusal: `multipathd has taken the disk as /dev/${device.name} and made no partition of it`,
      hint: leaveOutOfMultipath(device),
      passing: true,
    };
  }
  if (!observed.udev) return noUdev(linkOf(desired, device.dmUuid));
  const match = own === undefined || observed.link !== undefined ? undefined : ruleFor(desired, device);
  const link = linkOf(desired, device.dmUuid);
  const anyway = match === undefined ? [] : linkAnyway(desired.uid, link, match);
  return { steps: [...anyway, ...makeLink(desired, device, own?.name, observed.link !== undefined)] };
}

/** undefined where nothing of the device but its content lasts until the node starts anew: before Linux 5.15. */
function ruleFor(desired: DesiredRaw, device: DeviceFacts): string | undefined {
  const { dmUuid, partition, presence } = device;
  // udev names a logical volume by its own UUID, which no content hides.
  if (dmUuid !== undefined) return desired.mode === 'Block' ? undefined : mapperKey(dmUuid);
  if (device.mapUuid !== undefined) {
    return hasOwnTable(desired, device) ? undefined : mapperKey(device.mapUuid);
  }
  if (presence === undefined) return undefined;
  const number = partition?.number ?? (hasOwnTable(desired, device) ? 1 : undefined);
  const kind = number === undefined ? 'ENV{DEVTYPE}=="disk"' : `ENV{PARTN}=="${number}"`;
  return `${kind},ATTRS{diskseq}=="${presence.split('/')[1]}"`;
}

/** undefined for a UUID that would not end where udev's string does: whoever makes a map chooses it. */
const mapperKey = (uuid: string): string | undefined =>
  /^[\w.-]+$/.test(uuid) ? `ATTR{dm/uuid}=="${uuid}"` : undefined;

/** `name` is that of the volume's device where the kernel knows it already. */
export function makeLink(
  desired: DesiredRaw,
  device: DeviceFacts,
  name: string | undefined,
  isElsewhere = false,
): Step[] {
  return [
    ...(hasOwnTable(desired, device) ? [tellKernel(1, `/dev/${device.name}`)] : []),
    lookAgain(name ?? device.name),
    waitForLink(linkOf(desired, device.dmUuid), isElsewhere),
  ];
}

/** Also by a loop that is stacked on it, as the kubelet does for Block: udev gives the link to the newest device. */
function leadsTo(own: Pick<BlockDevice, 'name' | 'device'>, { link, loops }: ObservedRaw): boolean {
  return [own, ...loops.filter(({ backingFile }) => backingFile === `/dev/${own.name}`)].some(
    ({ device }) => device === link,
  );
}
