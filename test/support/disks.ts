import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Loop device that models a disk of a node. */
export interface Disk {
  /** Path, such as `/dev/loopN`. */
  path: string;
  /** Path of the first partition. Without a partition table, the device does not exist. */
  partition: string;
  /** Path of the backing file. */
  file: string;
  /**
   * Restores partitions that the kernel has dropped. udev requests a reread of the table after each
   * program that had the disk open for writing. A kernel that reads no partition tables only drops
   * the partitions.
   */
  reread(): Promise<void>;
  remove(): Promise<void>;
}

/** Adds the partitions of a loop device to the kernel if the given partition is missing. */
export async function rereadTable(partition: string): Promise<void> {
  const disk = /^\/dev\/loop\d+(?=p\d+$)/.exec(partition)?.[0];
  if (disk === undefined || existsSync(partition.replace('/dev', '/sys/class/block'))) return;
  await execa('partx', ['--update', disk], { reject: false });
}

/**
 * Waits until udev has handled the close of a disk that was open for writing: the kernel then
 * rereads the table and may drop partitions. A further event of the disk follows these events. The
 * whole queue never empties while other tests run.
 */
async function waitForUdev(disk: string): Promise<void> {
  const event = ['trigger', '--settle', '--action=change', disk];
  await execa('udevadm', event, { reject: false, timeout: 60_000 });
}

/**
 * Adds the partitions of a new table to the kernel. They remain until the disk is opened for
 * writing again.
 */
export async function readTable(disk: string): Promise<void> {
  // udev may notice the last close only after a first event of the disk.
  await waitForUdev(disk);
  await waitForUdev(disk);
  await execa('partx', ['--update', disk]);
}

/** Partition table: none, or one with two partitions of half the disk each. */
export type Table = 'none' | 'gpt' | 'dos';

/**
 * Creates a sparse disk with a backing file in `folder`.
 * The kernel may be unable to read partition tables, so partx adds the partitions.
 * @param number number of the loop device. Default: the lowest free number
 */
export async function makeDisk(
  folder: string,
  name: string,
  sizeBytes: bigint,
  table: Table = 'none',
  number?: number,
): Promise<Disk> {
  const file = join(folder, `${name}.disk`);
  await execa('truncate', ['-s', String(sizeBytes), file]);
  const half = sizeBytes / 2n / 512n;
  if (table !== 'none') {
    await execa('sgdisk', [`--new=1:2048:${half - 1n}`, `--new=2:${half}:0`, file]);
    if (table === 'dos') await execa('sgdisk', ['--gpttombr=1:2', file]);
  }
  const device = number === undefined ? '--find' : `/dev/loop${number}`;
  const { stdout: path } = await execa('losetup', ['--show', '--partscan', device, file]);
  if (table === 'none') {
    await waitForUdev(path);
    // The kernel may still have partitions of the last disk with this number: udev can add them
    // again until that one is detached.
    await execa('partx', ['--delete', path], { reject: false });
  } else await readTable(path);
  return {
    path,
    partition: `${path}p1`,
    file,
    async reread() {
      if (table !== 'none') await rereadTable(`${path}p1`);
    },
    async remove() {
      // A test may have detached the device, and another file may have its number by now.
      const { stdout } = await execa('losetup', ['-n', '-O', 'NAME', '-j', file], {
        reject: false,
      });
      for (const loop of stdout.split('\n').filter(Boolean)) {
        await execa('partx', ['--delete', loop.trim()], { reject: false });
        await execa('losetup', ['--detach', loop.trim()], { reject: false });
      }
      await rm(file, { force: true });
    },
  };
}
