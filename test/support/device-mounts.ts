import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Mounts of devices on this machine, below a directory. */
export interface DeviceMounts {
  /**
   * Mounts a device, once per name.
   * @returns the mount point
   */
  mount(device: string, name: string): Promise<string>;
  unmount(): Promise<void>;
  /**
   * Removes what a failed test may leave: all mounts, and loop devices of files in the directory.
   */
  clean(): Promise<void>;
}

export function deviceMounts(folder: string): DeviceMounts {
  const mounted: string[] = [];

  return {
    async mount(device, name) {
      const path = join(folder, `mnt-${name}`);
      if (mounted.includes(path)) return path;
      await mkdir(path, { recursive: true });
      await execa('mount', [device, path]);
      mounted.push(path);
      return path;
    },
    async unmount() {
      for (const path of mounted.splice(0).reverse()) await execa('umount', [path]);
    },
    async clean() {
      for (const path of mounted.splice(0).reverse())
        await execa('umount', [path], { reject: false });
      for (const device of await loopsBelow(folder)) await execa('losetup', ['-d', device]);
    },
  };
}

/** Returns the loop devices of files in a directory. */
export async function loopsBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir('/sys/block')) {
    const file = await readFile(`/sys/block/${name}/loop/backing_file`, 'utf8').catch(() => '');
    if (file.startsWith(`${folder}/`)) found.push(`/dev/${name}`);
  }
  return found;
}
