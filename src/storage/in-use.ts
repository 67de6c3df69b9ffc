import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { listUsers, useOf } from './holders.ts';
import type { BlockDevice, DeviceUsage } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'device'>;

/** Who is seen to use a device itself; the preconditions of `notInUse` see more, right before a step. */
export const userOf = (device: Device, users: DeviceUsage): string | undefined =>
  useOf(device, users)?.by;

/** Looks at a device right before a step, more widely than an observation does. */
export function notInUse({ name, device }: Device): Precondition[] {
  const path = `/dev/${name}`;
  return [
    {
      argv: ['losetup', '-j', path],
      expect: { exit: 0, stdout: { is: '' } },
      ...refuse('LoopStackedOnDevice', { device: path }),
    },
    {
      // Of every process: a mount in another mount namespace is not in our own table. The mount of /proc itself is there, too;
      // that of `/` need not have `/` as its root, as a subvolume of btrfs has not.
      argv: [
        ...['find', '/proc', '-maxdepth', '2', '-path', '/proc/[0-9]*/mountinfo'],
        // Without a space in any argument: sudo joins them by spaces before it compares them with its patterns.
        ...['-exec', 'grep', '-hs', '-e', `[[:space:]]${device}[[:space:]]`],
        ...['-e', '[[:space:]]/[[:space:]]/proc[[:space:]]', '{}', '+'],
      ],
      expect: { stdout: { has: ' / /proc ', lacks: ` ${device} ` } },
      ...refuse('DeviceMounted', { device: path }),
    },
    {
      // Of every file system, also one that no process has in its mounts any more: it lives on while a file of it is open, after
      // `umount -l`, or while a mount namespace without a process is kept. cgroups have folders without number.
      argv: [
        ...[
          'find',
          '/sys/fs',
          '-ignore_readdir_race',
          '-maxdepth',
          '4',
          '-path',
          '/sys/fs/cgroup',
          '-prune',
        ],
        ...['-o', '(', '-path', '/sys/fs', '-o', '-name', name, ')', '-print'],
      ],
      // It lists the folder itself, too: so it did look.
      expect: { exit: 0, stdout: { is: '/sys/fs' } },
      ...refuse('DeviceMountedUnseen', { device: path }),
    },
    {
      argv: ['find', `/sys/class/block/${name}/holders/`, '-mindepth', '1'],
      expect: { exit: 0, stdout: { is: '' } },
      ...refuse('DeviceMadeIntoAnother', { device: path }),
    },
    {
      argv: ['cat', '/proc/swaps'],
      expect: { exit: 0, stdout: { has: 'Filename', lacks: `${path} ` } },
      ...refuse('DeviceIsSwap', { device: path }),
    },
  ];
}

/**
 * That the kernel itself does not hold it: a mount under whatever number (btrfs has one of its own), a RAID, a device that
 * is exported. mke2fs opens a device exclusively before all else, and with -n it writes nothing. The size is any that
 * every device can have. It comes last: where nobody holds the device, it is opened to write as well, and when that is
 * closed, udev has the kernel read the partition table anew.
 */
export const notClaimed = ({ name }: Device): Precondition => ({
  argv: ['mkfs.ext4', '-n', '-q', '-F', `/dev/${name}`, '8M'],
  expect: { exit: 0 },
  ...refuse('DeviceClaimed', { device: `/dev/${name}` }),
});

/**
 * That no process has a disk open to write to it, as a virtual machine has that runs from it. Jobs for other partitions
 * of the disk have it open to read, for their lock.
 */
export const notOpenToWrite = ({ name }: Device): Precondition => ({
  argv: [
    ...['find', '/proc', '-maxdepth', '3', '-path', '/proc/[0-9]*/fd/*'],
    ...[
      '(',
      '-lname',
      '/dev/null',
      '-o',
      '-perm',
      '-u+w',
      '-lname',
      `/dev/${name}`,
      ')',
      '-printf',
      '/%l/',
    ],
  ],
  // What looks has /dev/null open itself.
  expect: { stdout: { has: '//dev/null/', lacks: `//dev/${name}/` } },
  ...refuse('OpenToWrite', { path: `/dev/${name}` }),
});

/** That no process has a file open to write to it, as a virtual machine has that runs from it. A pattern has no meaning in its path. */
export const notOpenByPath = (path: string): Precondition => {
  const pattern = path.replaceAll(/[*?[\\]/g, '\\$&');
  return {
    argv: [
      ...['find', '/proc', '-maxdepth', '3', '-path', '/proc/[0-9]*/fd/*'],
      ...[
        '(',
        '-lname',
        '/dev/null',
        '-o',
        '-perm',
        '-u+w',
        '-lname',
        pattern,
        ')',
        '-printf',
        '/%l/',
      ],
    ],
    // What looks has /dev/null open itself.
    expect: { stdout: { has: '//dev/null/', lacks: `/${path}/` } },
    ...refuse('OpenToWrite', { path }),
  };
};

/**
 * That no process has a device open, by its number, whatever name it was opened by. Not under a lock on the device:
 * whoever holds that has it open. To know the numbers, each open file is asked for, also those on servers that do not answer.
 */
export function notOpen({ name, device: number }: Device): Precondition {
  const device = `/dev/${name}`;
  const [major, minor] = number.split(':').map(Number) as [number, number];
  return {
    // What looks has /dev/null open itself.
    argv: [
      ...['find', '-L', '/proc', '-maxdepth', '3', '('],
      ...['-path', '/proc/*/*', '!', '-path', '/proc/[0-9]*/fd*', '-prune', ')', '-o'],
      ...['(', '-path', '/proc/[0-9]*/fd/*', '(', '-type', 'b', '-o', '-type', 'c', ')'],
      ...['-exec', 'stat', '-L', '-c', '/%F|%t:%T/', '{}', '+', ')'],
    ],
    expect: {
      stdout: {
        has: '/character special file|1:3/',
        lacks: `/block special file|${major.toString(16)}:${minor.toString(16)}/`,
      },
    },
    ...refuse('DeviceOpen', { device, look: listUsers(device) }),
    late: refuse('UseUnknown', { device }),
  };
}

/** That nothing on the node uses any of some devices. */
export const preconditionsOfDevices = (devices: readonly Device[]): Precondition[] =>
  devices.flatMap((each) => [...notInUse(each), notOpen(each)]);
