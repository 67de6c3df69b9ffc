import { DEFAULT_FS_TYPE, type FsType } from '../api/file-systems.ts';
import { refuse } from '../api/reasons.ts';
import type { Precondition, Step } from '../nodes/job.ts';
import { scriptArgv } from './scripts/scripts.ts';
import { fsTypeOf, ownBlkid } from './signature.ts';
import type { BlockDevice, DeviceUsage, Signature } from './types.ts';

/**
 * Returns steps that grow a file system, whose UUID is the Volume's, to the size of its device. A
 * script grows it mounted: the kernel's journal keeps it consistent through a power cut. An
 * interrupted resize2fs of an unmounted ext4 can leave damage that `e2fsck -p` refuses to repair.
 * `growsMounted`: root of the node may grow a mounted ext4.
 */
export function growFileSystem(
  uid: string,
  { name, device: number }: Pick<BlockDevice, 'name' | 'device'>,
  signature: Signature,
  { mounts, growsMounted }: Pick<DeviceUsage, 'mounts'> & { growsMounted: boolean },
): Step[] {
  const type = fsTypeOf(signature) ?? DEFAULT_FS_TYPE;
  const device = `/dev/${name}`;
  const left = leftPoint(uid);
  const isMounted = mounts.get(number)?.some((path) => path !== left);
  const growUnmounted = GROW_UNMOUNTED[type];
  if (growUnmounted !== undefined && !growsMounted && !isMounted) return growUnmounted(uid, device);
  return [
    {
      name: `grow the ${type} file system`,
      argv: scriptArgv('stowage-grow', device, uid, type),
      preconditions: [stillOurs(uid, device)],
    },
  ];
}

/**
 * Functions that return the steps for a file system that root may not grow while it is mounted;
 * undefined for a type that root may always grow.
 */
const GROW_UNMOUNTED: Record<FsType, ((uid: string, device: string) => Step[]) | undefined> = {
  ext4: growUnmountedExt4,
  xfs: undefined,
};

function growUnmountedExt4(uid: string, device: string): Step[] {
  const preconditions = [stillOurs(uid, device)];
  return [
    {
      name: 'check the ext4 file system, as resize2fs requires',
      argv: ['e2fsck', '-f', '-p', device],
      preconditions,
      // e2fsck exits 1 after a repair, and 8 if the device was mounted meanwhile.
      failureMeansConflict: true,
    },
    { name: 'grow the ext4 file system', argv: ['resize2fs', device], preconditions },
  ];
}

/** Mount point at which earlier versions grew a file system, in the node's own mount namespace. */
const leftPoint = (uid: string) => `/run/stowage/mounts/${uid}`;

/** Returns the steps that unmount what an interrupted step of an earlier version left mounted. */
export function leaveMount(
  uid: string,
  { device }: Pick<BlockDevice, 'device'>,
  { mounts }: Pick<DeviceUsage, 'mounts'>,
): Step[] {
  const point = leftPoint(uid);
  if (!mounts.get(device)?.includes(point)) return [];
  return [
    { name: `unmount ${point}`, argv: ['umount', '--', point], preconditions: [] },
    { name: 'remove the mount point', argv: ['rmdir', '--', point], preconditions: [] },
  ];
}

function stillOurs(uid: string, device: string): Precondition {
  return {
    argv: ownBlkid(device, 'value', 'UUID'),
    expect: { exit: 0, stdout: { is: uid } },
    ...refuse('FileSystemGone', { device, uuid: uid }),
  };
}
