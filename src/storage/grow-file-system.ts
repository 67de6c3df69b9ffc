import type { Guard, Step } from '../nodes/job.ts';
import { ownBlkid } from './signature.ts';
import type { BlockDevice, Signature, Users } from './types.ts';

/** Where a file system is mounted for as long as it grows. */
const mountPoint = (uid: string) => `/run/stowage/mounts/${uid}`;

/**
 * Has a file system, whose UUID is the Volume's, take all of its device. Mounted, also where it is mounted already: its
 * mount is not known to be one that we see. The kernel's journal keeps it whole through a power cut; a resize2fs of what
 * is not mounted can leave an ext4, when it is cut off, that e2fsck -p gives up.
 * @param node `growsMounted`: whether root may grow an ext4 so
 */
export function growFileSystem(
  uid: string,
  { name, device: number }: Pick<BlockDevice, 'name' | 'device'>,
  signature: Signature,
  { mounts, growsMounted }: Pick<Users, 'mounts'> & { growsMounted: boolean },
): Step[] {
  const type = signature.found === 'one' && signature.type === 'xfs' ? 'xfs' : 'ext4';
  const device = `/dev/${name}`;
  const point = mountPoint(uid);
  const isMounted = mounts.get(number)?.some((path) => path !== point);
  if (type === 'ext4' && !growsMounted && !isMounted) return growUnmounted(uid, device);
  return [
    { name: 'make a place to mount it', argv: ['mkdir', '-p', '-m', '0700', '--', point], guards: [] },
    {
      name: `mount the ${type} file system for a moment`,
      argv: ['mount', '-t', type, '-o', 'nosuid,nodev,noexec', '--', device, point],
      guards: [stillOurs(uid, device)],
    },
    {
      name: `grow the ${type} file system`,
      argv: type === 'xfs' ? ['xfs_growfs', point] : ['resize2fs', device],
      guards: [],
    },
    ...unmount(uid),
  ];
}

/** As long as root may not grow it otherwise. */
function growUnmounted(uid: string, device: string): Step[] {
  const guards = [stillOurs(uid, device)];
  return [
    {
      name: 'check the ext4 file system, which resize2fs asks for',
      argv: ['e2fsck', '-f', '-p', device],
      guards,
      // Its status is 1 after it mended something, and 8 where it was mounted meanwhile.
      mayRace: true,
    },
    { name: 'grow the ext4 file system', argv: ['resize2fs', device], guards },
  ];
}

/** Takes off what an interrupted growing left mounted. */
export function leaveMount(
  uid: string,
  { device }: Pick<BlockDevice, 'device'>,
  { mounts }: Pick<Users, 'mounts'>,
): Step[] {
  return mounts.get(device)?.includes(mountPoint(uid)) ? unmount(uid) : [];
}

function stillOurs(uid: string, device: string): Guard {
  return {
    argv: ownBlkid(device, 'value', 'UUID'),
    expect: { exit: 0, stdout: { is: uid } },
    refusal: `${device} no longer holds the file system ${uid}`,
  };
}

function unmount(uid: string): Step[] {
  const point = mountPoint(uid);
  return [
    { name: 'unmount it', argv: ['umount', '--', point], guards: [] },
    { name: 'remove the place', argv: ['rmdir', '--', point], guards: [] },
  ];
}
