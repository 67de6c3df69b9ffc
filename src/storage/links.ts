import { type Reason, refuse } from '../api/reasons.ts';
import type { BlockDevice, DesiredVolume, ObservedVolume } from './types.ts';

type Named = Pick<DesiredVolume, 'uid' | 'mode' | 'earlierLink'>;

/**
 * Returns the persistent path of a volume's device, as its PersistentVolume has it. A rule of
 * Stowage's creates it for the device that Stowage has checked. Nothing derives it from the
 * content, which a pod can write.
 */
export const linkOf = ({ uid, earlierLink }: Pick<Named, 'uid' | 'earlierLink'>): string =>
  earlierLink ?? `/dev/disk/by-id/stowage-${uid}`;

/** Returns the path that udev derives from the content of a volume's device. */
export const contentLink = ({ uid, mode }: Named): string =>
  `/dev/disk/${mode === 'Filesystem' ? 'by-uuid' : 'by-partuuid'}/${uid}`;

const MAPPER = /^\/dev\/disk\/by-id\/dm-uuid-LVM-[A-Za-z0-9]+$/;

/**
 * Returns the recorded path of a volume, if earlier versions or MetalK8s gave such a path to its
 * kind.
 */
export function earlierLink(path: string | undefined, volume: Named): { earlierLink?: string } {
  const isOne =
    path === contentLink(volume) || (volume.mode === 'Block' && MAPPER.test(path ?? ''));
  return isOne && path !== undefined ? { earlierLink: path } : {};
}

/**
 * Reports whether udev itself creates the path, from the device-mapper UUID of a logical volume.
 */
export const isMapperLink = ({ earlierLink }: Pick<Named, 'earlierLink'>): boolean =>
  MAPPER.test(earlierLink ?? '');

type Device = Pick<BlockDevice, 'name' | 'device'>;

/**
 * Reports whether the persistent path leads to a device, or to a loop device on it, as the kubelet
 * stacks one for Block. udev gives a path derived from content to the newest device.
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
 * Returns, for a plan, where the persistent path leads instead of the volume's device, which is
 * undefined while it is absent. Observations are not atomic: a device that is missing in one of
 * them appeared meanwhile, and may be the volume's.
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
