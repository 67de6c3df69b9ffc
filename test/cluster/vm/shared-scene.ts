import type { VolumeSpec } from '../../../src/api/volume.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Scene, startSceneOn } from '../kubelet/scene.ts';
import type { Places } from '../kubelet/volumes.ts';
import { becomeNode, programs } from './kubelet.ts';
import type { VmMachine } from './kubelet-scene.ts';
import { onNode } from './node.ts';
import { DIRECTORY, NAMES, type Sharing, startSharing } from './shared-directory.ts';

export interface SharedMachine extends VmMachine {
  sharing: Sharing;
}

/**
 * Time (s) that the daemon waits for a NotReady node before it force-detaches. Shorter than the
 * timeouts of tests.
 */
export const MAX_WAIT = 15;

/**
 * Starts a real cluster of two nodes, VMs that share a directory, and the daemon, which reaches
 * them over ssh.
 */
export const startScene = (): Promise<Scene<SharedMachine>> =>
  startSceneOn('vm1', startNodes, NAMES.slice(1));

async function startNodes(controlPlane: ControlPlane): Promise<SharedMachine> {
  const sharing = await startSharing({ memoryMiB: 1536, cpus: 2, disks: await programs() });
  const { vms, configFile, stop } = sharing;
  try {
    await Promise.all(NAMES.map((name) => becomeNode(vms[name], controlPlane)));
  } catch (error) {
    await stop();
    throw error;
  }
  const flags = ['--ssh-config', configFile, '--max-wait-for-unmount', `${MAX_WAIT}s`];
  return { vm: vms.vm1, sharing, reachedBy: flags, stop };
}

/** Provides files in the directory, for both nodes. */
export function placesIn({
  machine: { sharing },
}: Pick<Scene<SharedMachine>, 'machine'>): Places<'shared'> {
  const { vms } = sharing;
  return {
    storage: async (): Promise<Partial<VolumeSpec>> => ({
      sparseLoopDevice: { size: '32Mi', directory: DIRECTORY },
      attachPolicy: 'OnDemand',
      attachableNodes: [...NAMES],
    }),
    async traces(uid) {
      const { stdout } = await vms.vm2.run(['find', DIRECTORY, '-name', `*${uid}*`]);
      const onNodes = await Promise.all(NAMES.map((name) => onNode(vms[name]).tracesOf(uid)));
      return [...stdout.split('\n').filter((line) => line !== ''), ...onNodes.flat()];
    },
    // Everything is removed with the VMs.
    async clean() {},
  };
}
