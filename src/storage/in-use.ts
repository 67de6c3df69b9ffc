import { refuse } from '../api/reasons.ts';
import type { Precondition } from '../nodes/job.ts';
import { listUsers, useOf } from './holders.ts';
import type { BlockDevice, DeviceUsage } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'device'>;

/**
 * Returns the observed holders of a device; undefined if there are none. The preconditions of
 * `notInUse` see more, right before a step.
 */
export const userOf = (device: Device, users: DeviceUsage): string | undefined =>
  useOf(device, users)?.by;

/** Requires that a device is unused. The commands see more than an observation does. */
export function notInUse({ name, device }: Device): Precondition[] {
  const path = `/dev/${name}`;
  return [
    {
      argv: ['losetup', '-j', path],
      expect: { exit: 0, stdout: { is: '' } },
      ...refuse('LoopStackedOnDevice', { device: path }),
    },
    {
      // Reads every process: a mount in another mount namespace is not in this process's table. The
      // mount of /proc itself is always listed. The mount of `/` need not have `/` as its root, as
      // on a btrfs subvolume.
      argv: [
        ...['find', '/proc', '-maxdepth', '2', '-path', '/proc/[0-9]*/mountinfo'],
        // No argument has a space: sudo joins arguments with spaces before it matches its patterns.
        ...['-exec', 'grep', '-hs', '-e', `[[:space:]]${device}[[:space:]]`],
        ...['-e', '[[:space:]]/[[:space:]]/proc[[:space:]]', '{}', '+'],
      ],
      expect: { stdout: { has: ' / /proc ', lacks: ` ${device} ` } },
      ...refuse('DeviceMounted', { device: path }),
    },
    {
      // Lists every active file system, even one in no mount namespace. Such a file system stays
      // active while a file on it is open after `umount -l`, or in a mount namespace without
      // processes. cgroups have an unlimited number of directories.
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
      // find also prints the directory itself, which proves that it ran.
      expect: { exit: 0, stdout: { is: '/sys/fs' } },
      ...refuse('DeviceMountedUnseen', { device: path }),
    },
    {
      // Fails, too, if the device vanished meanwhile, as a partition does while the kernel rereads
      // its table: one expectation covers both, so that the message names both.
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
 * Requires that the kernel itself does not hold the device: a mount under any number (btrfs has its
 * own), a RAID, an exported device. mke2fs opens a device exclusively before anything else, and
 * with -n it writes nothing. The size is one that every device can have. Check this last: mke2fs
 * also opens an unused device for writing, and when it closes the device, udev makes the kernel
 * reread the partition table.
 */
export const notClaimed = ({ name }: Device): Precondition => ({
  argv: ['mkfs.ext4', '-n', '-q', '-F', `/dev/${name}`, '8M'],
  expect: { exit: 0 },
  ...refuse('DeviceClaimed', { device: `/dev/${name}` }),
});

/**
 * Requires that no process has a disk open for writing, as a virtual machine that runs from it has.
 * Jobs for other partitions of the disk have it open for reading, for their lock.
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
  // find itself has /dev/null open, which proves that it ran.
  expect: { stdout: { has: '//dev/null/', lacks: `//dev/${name}/` } },
  ...refuse('OpenToWrite', { path: `/dev/${name}` }),
});

/**
 * Requires that no process has a file open for writing, as a virtual machine that runs from it has.
 * Pattern characters in the path are escaped.
 */
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
    // find itself has /dev/null open, which proves that it ran.
    expect: { stdout: { has: '//dev/null/', lacks: `/${path}/` } },
    ...refuse('OpenToWrite', { path }),
  };
};

/**
 * Requires that no process has a device open, by its number, whatever path it opened. Do not check
 * it under a lock on the device: the lock holder has it open. The command stats each open file,
 * also those on servers that do not answer.
 */
export function notOpen({ name, device: number }: Device): Precondition {
  const device = `/dev/${name}`;
  const [major, minor] = number.split(':').map(Number) as [number, number];
  return {
    // find itself has /dev/null open, which proves that it ran.
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

/** Requires that nothing on the node uses any of the devices. */
export const preconditionsOfDevices = (devices: readonly Device[]): Precondition[] =>
  devices.flatMap((each) => [...notInUse(each), notOpen(each)]);
