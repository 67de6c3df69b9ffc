import { execFile } from 'node:child_process';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PersistentVolume } from '../../../src/api/core.ts';
import type { Mounts } from './kubelet.ts';

const run = promisify(execFile);

/**
 * Mounts `local` volumes of mode Filesystem below a directory, in the layout of the kubelet.
 * Rejects other volumes. Requires root.
 */
export function mountsIn(folder: string): Mounts {
  const targetOf = (name: string, podUid: string) =>
    join(folder, 'pods', podUid, 'volumes', 'kubernetes.io~local-volume', name);
  return {
    async mount(volume: PersistentVolume, podUid: string) {
      const { local, volumeMode, mountOptions = [] } = volume.spec;
      if (local === undefined || volumeMode === 'Block')
        throw new Error(
          `the sandbox mounts local volumes of mode Filesystem only, not ${volume.metadata.name}`,
        );
      const target = targetOf(volume.metadata.name, podUid);
      const isFolder = (await stat(local.path)).isDirectory();
      await mkdir(target, { recursive: true });
      const options = [...(isFolder ? ['bind'] : []), ...mountOptions];
      await run('mount', [
        ...(isFolder || local.fsType === undefined ? [] : ['-t', local.fsType]),
        ...(options.length === 0 ? [] : ['-o', options.join(',')]),
        '--',
        local.path,
        target,
      ]);
    },
    async unmount(name: string, podUid: string) {
      const target = targetOf(name, podUid);
      await run('umount', ['--', target]);
      await rmdir(target);
    },
  };
}
