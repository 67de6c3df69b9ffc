import { execa } from 'execa';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Machine, type Scene, type SceneOptions, startSceneOn } from '../kubelet/scene.ts';
import type { Places } from '../kubelet/volumes.ts';
import { becomeNode, journal, type KubeletServer, programs } from './kubelet.ts';
import { onNode } from './node.ts';
import { DISKS, type Kind, makePlaces, placeOf, tagged } from './places.ts';
import { startVm, type Vm } from './vm.ts';

export interface VmMachine extends Machine {
  vm: Vm;
}

/** Starts a real cluster whose only node is a VM, and the daemon, which reaches it over ssh. */
export const startScene = (options?: SceneOptions) =>
  startSceneOn('vm1', (...node) => startVmNode(...node), [], options);

/**
 * Starts a VM that is the node of that name, with devices for volumes.
 * @param server as of `becomeNode`
 */
export async function startVmNode(
  controlPlane: ControlPlane,
  name: string,
  server?: KubeletServer,
): Promise<VmMachine> {
  const disks = { ...DISKS, ...(await programs()) };
  const vm = await startVm({ name, memoryMiB: 1536, cpus: 2, disks });
  try {
    await makePlaces(vm);
    await becomeNode(vm, controlPlane, server);
  } catch (error) {
    await vm.stop();
    throw error;
  }
  return { vm, reachedBy: ['--ssh-config', vm.configFile], stop: vm.stop };
}

/** Provides storage in the VM. Each device is used once. */
export function placesIn({ machine: { vm } }: Pick<Scene<VmMachine>, 'machine'>): Places<Kind> {
  const handedOut = new Map<Kind, number>();
  return {
    async storage(kind) {
      const count = handedOut.get(kind) ?? 0;
      handedOut.set(kind, count + 1);
      return placeOf(vm, kind, count === 0 ? 'first' : 'second');
    },
    traces: async (uid) => [...(await onNode(vm).tracesOf(uid)), ...(await tagged(vm, uid))],
    // Everything is removed with the VM.
    async clean() {},
  };
}

/** Runs a test. If it fails, prints the last output of the kubelet, the cluster and the daemon. */
export async function withLogs(
  { machine, kubectl, log }: Scene<VmMachine>,
  work: () => Promise<void>,
) {
  try {
    await work();
  } catch (error) {
    const said = async (what: string, look: () => Promise<{ stdout: string }>) => {
      const { stdout } = await look().catch(({ message }: Error) => ({ stdout: message }));
      process.stderr.write(`\n${what}:\n${stdout}\n`);
    };
    await said('The kubelet', async () => ({ stdout: await journal(machine.vm) }));
    await said('The pods', () =>
      kubectl('get', 'pods,pvc,pv,volumes', '--all-namespaces', '-o', 'wide'),
    );
    await said('Events', () => kubectl('get', 'events', '--all-namespaces'));
    await said('The daemon', () => execa('tail', ['-n', '40', log]));
    throw error;
  }
}
