import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** A loop device that stands for a disk of a node. */
export interface Disk {
  /** `/dev/loopN`. */
  path: string;
  /** The first partition, as `/dev/…`; the disk itself has none when it was made without a table. */
  partition: string;
  /** The file behind it. */
  file: string;
  /**
   * Brings partitions back that the kernel has forgotten, as one does that reads tables itself, whenever udev asks it to:
   * after each program that had the disk open to write. One that does not read them only forgets them then.
   */
  reread(): Promise<void>;
  remove(): Promise<void>;
}

/** Tells the kernel of the partitions of a loop device, given one that it may have forgotten. */
export async function rereadTable(partition: string): Promise<void> {
  const disk = /^\/dev\/loop\d+(?=p\d+$)/.exec(partition)?.[0];
  if (disk === undefined || existsSync(partition.replace('/dev', '/sys/class/block'))) return;
  await execa('partx', ['--update', disk], { reject: false });
}

/**
 * Waits until udev has handled that a disk was open to write: it has the kernel read the table again, which may forget
 * partitions. One more event of the disk comes after that; the whole queue is never empty while other tests run.
 */
async function waitForUdev(disk: string): Promise<void> {
  const event = ['trigger', '--settle', '--action=change', disk];
  await execa('udevadm', event, { reject: false, timeout: 60_000 });
}

/** Makes the partitions of a table known that was just written to a disk; they stay until it is open to write again. */
export async function readTable(disk: string): Promise<void> {
  await waitForUdev(disk);
  await execa('partx', ['--update', disk]);
}

/** The partition table: none, or into two partitions of half its size. */
export type Table = 'none' | 'gpt' | 'dos';

/**
 * A disk of that many bytes, sparse, with a file below `folder`.
 * The kernel may read no tables by itself, so its partitions are told to it.
 * @param number of the loop device. Default: the lowest that is free
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
  await (table === 'none' ? waitForUdev(path) : readTable(path));
  return {
    path,
    partition: `${path}p1`,
    file,
    async reread() {
      if (table !== 'none') await rereadTable(`${path}p1`);
    },
    async remove() {
      // A test may have taken it away, and somebody else's file may have its number by then.
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
