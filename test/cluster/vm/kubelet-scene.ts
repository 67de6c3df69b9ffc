import { execa } from 'execa';
import type { Backing } from '../../support/kinds.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Machine, type Scene, startSceneOn } from '../kubelet/scene.ts';
import type { Places } from '../kubelet/volumes.ts';
import { becomeNode, journal, programs } from './kubelet.ts';
import { onNode } from './node.ts';
import { startVm, type Vm } from './vm.ts';

export type Kind = Backing | 'logical volume' | 'thin volume';
export const KINDS: readonly Kind[] = ['sparse file', 'disk', 'partition', 'logical volume', 'thin volume'];

export interface VmMachine extends Machine {
  vm: Vm;
}

/** A real cluster whose one node is a VM, and the daemon, which reaches it over ssh. */
export const startScene = () => startSceneOn('vm1', start);

/** XFS takes no less. */
const SIZE = '304Mi';
/** Two of each kind of device, and room for as many files and logical volumes. */
const DISKS = { first: '304M', second: '304M', parted: '612M', group: '3G' };
const GROUP = 'vg0';
const POOL = 'pool';

async function start(controlPlane: ControlPlane, name: string): Promise<VmMachine> {
  const disks = { ...DISKS, ...(await programs()) };
  const vm = await startVm({ name, memoryMiB: 1536, cpus: 2, disks });
  try {
    await vm.run(['sgdisk', '--new=1:0:+304M', '--new=2:0:+304M', vm.disk('parted')]);
    await vm.run(['udevadm', 'settle', `--exit-if-exists=${vm.disk('parted')}-part2`]);
    await vm.run(['vgcreate', GROUP, vm.disk('group')]);
    await vm.run(['lvcreate', '--yes', '--type', 'thin-pool', '-L', '700M', '-n', POOL, GROUP]);
    await becomeNode(vm, controlPlane);
  } catch (error) {
    await vm.stop();
    throw error;
  }
  return { vm, reachedBy: ['--ssh-config', vm.configFile], stop: vm.stop };
}

/** Each device is handed out once. */
export function placesIn({ machine: { vm } }: Pick<Scene<VmMachine>, 'machine'>): Places<Kind> {
  const disks = ['first', 'second'].map(vm.disk);
  const partitions = [1, 2].map((number) => `${vm.disk('parted')}-part${number}`);
  const next = (devices: string[]) => ({ rawBlockDevice: { devicePath: devices.shift() ?? '' } });
  const logical = { vgName: GROUP, size: SIZE };
  return {
    async storage(kind) {
      if (kind === 'sparse file') return { sparseLoopDevice: { size: SIZE } };
      if (kind === 'logical volume') return { lvmLogicalVolume: logical };
      if (kind === 'thin volume') return { lvmLogicalVolume: { ...logical, thinPool: POOL } };
      return next(kind === 'disk' ? disks : partitions);
    },
    async traces(uid) {
      const { stdout } = await vm.run(['lvs', '--noheadings', '-o', 'lv_full_name,lv_tags']);
      const tagged = stdout.split('\n').filter((line) => line.includes(uid));
      return [...(await onNode(vm).tracesOf(uid)), ...tagged];
    },
    // All goes with the VM.
    async clean() {},
  };
}

/** Runs a test; if it fails, prints what the kubelet, the cluster and the daemon said last. */
export async function told({ machine, kubectl, log }: Scene<VmMachine>, work: () => Promise<void>) {
  try {
    await work();
  } catch (error) {
    const said = async (what: string, look: () => Promise<{ stdout: string }>) => {
      const { stdout } = await look().catch(({ message }: Error) => ({ stdout: message }));
      process.stderr.write(`\n${what}:\n${stdout}\n`);
    };
    await said('The kubelet', async () => ({ stdout: await journal(machine.vm) }));
    await said('The pods', () => kubectl('get', 'pods,pvc,pv,volumes', '--all-namespaces', '-o', 'wide'));
    await said('Events', () => kubectl('get', 'events', '--all-namespaces'));
    await said('The daemon', () => execa('tail', ['-n', '40', log]));
    throw error;
  }
}
