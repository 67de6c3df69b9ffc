import type { Step } from '../../nodes/job.ts';
import { refuseStale } from '../kubelet.ts';
import { linkOf } from '../links.ts';
import { tellKernel } from '../partx.ts';
import type { BlockDevice, DesiredRaw, DeviceFacts, ObservedRaw, Plan } from '../types.ts';
import { lookAgain, noUdev, waitForLink } from '../udev.ts';
import { checkMade } from './prepare.ts';
import { targetOf } from './target.ts';

/** What remains to be done until the persistent link leads to the device. */
export function planPresent(desired: DesiredRaw, observed: ObservedRaw): Plan {
  const device = targetOf(desired, observed);
  if ('refusal' in device) return device;
  const made = checkMade(desired, observed, device);
  return 'refusal' in made ? made : { steps: [], ...linked(desired, observed, device) };
}

/** The device that the persistent link must lead to, once the kernel knows it. */
export function volumeDevice(
  { mode }: DesiredRaw,
  device: DeviceFacts,
): Pick<BlockDevice, 'name' | 'device' | 'sizeBytes'> | undefined {
  const ownTable = mode === 'Block' && device.partition === undefined && device.dmUuid === undefined;
  return ownTable ? device.partitions[0] : device;
}

/** The part of `planPresent` that is about the link. */
export function linked(desired: DesiredRaw, observed: ObservedRaw, device: DeviceFacts): Plan {
  const stale = refuseStale(desired, observed, [device, ...device.partitions]);
  if (stale !== undefined) return stale;
  const own = volumeDevice(desired, device);
  if (own !== undefined && leadsTo(own, observed)) return { steps: [] };
  if (!observed.udev) return noUdev(linkOf(desired, device.dmUuid));
  return { steps: makeLink(desired, device, own?.name) };
}

/** `name` is that of the volume's device where the kernel knows it already. */
export function makeLink(desired: DesiredRaw, device: DeviceFacts, name: string | undefined): Step[] {
  const ownTable = desired.mode === 'Block' && device.partition === undefined && device.dmUuid === undefined;
  return [
    ...(ownTable ? [tellKernel(1, `/dev/${device.name}`)] : []),
    lookAgain(name ?? device.name),
    waitForLink(linkOf(desired, device.dmUuid)),
  ];
}

/** Also by a loop that is stacked on it, as the kubelet does for Block: udev gives the link to the newest device. */
function leadsTo(own: Pick<BlockDevice, 'name' | 'device'>, { link, loops }: ObservedRaw): boolean {
  return [own, ...loops.filter(({ backingFile }) => backingFile === `/dev/${own.name}`)].some(
    ({ device }) => device === link,
  );
}
