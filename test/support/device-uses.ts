import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { SparseScene } from './sparse-scene.ts';

/** Starts a use of the device. Resolves to a function that ends the use. */
export type Use = (device: string) => Promise<() => Promise<unknown>>;

/** Mounts the device in a process with its own mount namespace. The process ends with its input. */
export async function mountElsewhere(device: string, mountPoint: string) {
  const script = 'mount "$1" "$2" && echo mounted && read end';
  const command = ['sh', '-c', script, 'sh', device, mountPoint];
  const holder = spawn('unshare', ['-m', '--propagation', 'private', ...command]);
  await once(holder.stdout, 'data');
  return holder;
}

/** Uses that block the detach of a device of the scene. */
export const deviceUses = (scene: SparseScene) =>
  ({
    async mounted(device) {
      await execa('mount', [device, scene.mountPoint]);
      return () => execa('umount', [scene.mountPoint]);
    },
    async mountedElsewhere(device) {
      const holder = await mountElsewhere(device, scene.mountPoint);
      return async () => {
        holder.stdin.end();
        await once(holder, 'close');
      };
    },
    async open(device) {
      const handle = await open(device, 'r');
      return () => handle.close();
    },
    async stacked(device) {
      const { stdout } = await execa('losetup', ['-f', '--show', device]);
      return () => execa('losetup', ['-d', stdout]);
    },
    async kubelet() {
      const pod = join(scene.desired.kubeletRoot, 'pods/pod-1');
      await mkdir(join(pod, 'volumes/kubernetes.io~local-volume/data1/lost+found'), {
        recursive: true,
      });
      return () => rm(pod, { recursive: true });
    },
  }) satisfies Record<string, Use>;
