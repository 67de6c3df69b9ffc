import { type Reason, refuse } from '../api/reasons.ts';
import type { BlockDevice, DesiredVolume, ObservedVolume } from './types.ts';

type Named = Pick<DesiredVolume, 'uid' | 'mode' | 'earlierLink'>;

/**
 * The persistent path of a volume's device, as its PersistentVolume has it. A rule of Stowage's makes it for the device that it has
 * looked at: no program derives it from what a device holds, which a pod can write.
 */
export const linkOf = ({ uid, earlierLink }: Pick<Named, 'uid' | 'earlierLink'>): string =>
  earlierLink ?? `/dev/disk/by-id/stowage-${uid}`;

/** The path that udev derives from what a volume's device holds. */
export const contentLink = ({ uid, mode }: Named): string =>
  `/dev/disk/${mode === 'Filesystem' ? 'by-uuid' : 'by-partuuid'}/${uid}`;

const MAPPER = /^\/dev\/disk\/by-id\/dm-uuid-LVM-[A-Za-z0-9]+$/;

/** The path that is on record for a volume, if it is one that earlier versions and MetalK8s gave to its kind. */
export function earlierLink(path: string | undefined, volume: Named): { earlierLink?: string } {
  const isOne =
    path === contentLink(volume) || (volume.mode === 'Block' && MAPPER.test(path ?? ''));
  return isOne && path !== undefined ? { earlierLink: path } : {};
}

/** Whether udev itself makes the path, from the UUID that device-mapper has for a logical volume. */
export const isMapperLink = ({ earlierLink }: Pick<Named, 'earlierLink'>): boolean =>
  MAPPER.test(earlierLink ?? '');

type Device = Pick<BlockDevice, 'name' | 'device'>;

/**
 * Whether the persistent path leads to a device; also by a loop that is stacked on it, as the kubelet does for Block: of a path
 * that udev derives from content, it gives the link to the newest device.
 */
export function leadsTo(
  own: Device,
  { link, loops }: Pick<ObservedVolume, 'link' | 'loops'>,
): boolean {
  return [own, ...loops.filter(({ backingFile }) => backingFile === `/dev/${own.name}`)].some(
    ({ device }) => device === link,
  );
}

/**
 * For a plan: where the persistent path leads instead of to the volume's device, which is undefined while it is not there. What is
 * observed is read one after the other: a device that is not in all of it came meanwhile, and may be the volume's.
 */
export function astray(
  desired: Pick<DesiredVolume, 'uid' | 'earlierLink'>,
  observed: Pick<ObservedVolume, 'link' | 'loops' | 'devices'>,
  own: Device | undefined,
): { astray?: string; reason?: Reason } {
  const { link, loops, devices } = observed;
  if (link === undefined || (own !== undefined && leadsTo(own, observed))) return {};
  const other = devices.find(({ device }) => device === link);
  if (other === undefined) return {};
  const disk = other.type === 'part' ? other.parent : other.name;
  if (/^loop\d+$/.test(disk ?? '') && !loops.some(({ name }) => name === disk)) return {};
  const leads = { path: linkOf(desired), found: `/dev/${other.name}` };
  const { refusal, reason } =
    own === undefined
      ? refuse('PathAstrayWithoutDevice', leads)
      : refuse('PathAstray', { ...leads, device: `/dev/${own.name}` });
  return { astray: refusal, reason };
}
