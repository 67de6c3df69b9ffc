import type { Guard, Step } from '../nodes/job.ts';
import type { BlockDevice, Signature, Users } from './types.ts';

/** Where an XFS file system is mounted for as long as it grows: it grows only so. */
const mountPoint = (uid: string) => `/run/stowage/mounts/${uid}`;

type Device = Pick<BlockDevice, 'name' | 'device'>;

/** Has a file system, whose UUID is the Volume's, take all of its device; also while it is in use. */
export function growFileSystem(
  uid: string,
  { name, device }: Device,
  signature: Signature,
  { mounts }: Pick<Users, 'mounts'>,
): Step[] {
  const path = `/dev/${name}`;
  if (signature.found === 'one' && signature.type === 'xfs') return growXfs(uid, path);
  const grow: Step = {
    name: 'grow the ext4 file system',
    argv: ['resize2fs', path],
    guards: [stillOurs(uid, path)],
  };
  if (mounts.has(device)) return [grow];
  return [
    {
      name: 'check the ext4 file system, which resize2fs asks for',
      argv: ['e2fsck', '-f', '-p', path],
      guards: [stillOurs(uid, path)],
      // Its status is 1 after it mended something, and 8 where it was mounted meanwhile.
      mayRace: true,
    },
    grow,
  ];
}

/** Takes off what an interrupted growing left mounted. */
export function leaveMount(uid: string, { device }: Device, { mounts }: Pick<Users, 'mounts'>): Step[] {
  return mounts.get(device)?.includes(mountPoint(uid)) ? unmount(uid) : [];
}

/** Also where it is mounted already: its mount is not known to be one that we see. */
function growXfs(uid: string, device: string): Step[] {
  const point = mountPoint(uid);
  return [
    { name: 'make a place to mount it', argv: ['mkdir', '-p', '-m', '0700', '--', point], guards: [] },
    {
      name: 'mount the xfs file system for a moment',
      argv: ['mount', '-t', 'xfs', '-o', 'nosuid,nodev,noexec', '--', device, point],
      guards: [stillOurs(uid, device)],
    },
    { name: 'grow the xfs file system', argv: ['xfs_growfs', point], guards: [] },
    ...unmount(uid),
  ];
}

function stillOurs(uid: string, device: string): Guard {
  return {
    argv: ['blkid', '-p', '-o', 'value', '-s', 'UUID', device],
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
