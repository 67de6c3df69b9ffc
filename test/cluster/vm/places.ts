import type { VolumeSpec } from '../../../src/api/volume.ts';
import type { Backing } from '../../support/kinds.ts';
import type { Vm } from './vm.ts';

export type Kind = Backing | 'logical volume' | 'thin volume';
export const KINDS: readonly Kind[] = [
  'sparse file',
  'disk',
  'partition',
  'logical volume',
  'thin volume',
];

/** Size of volumes. XFS requires at least 300 MiB. */
export const SIZE = '304Mi';
/** Two of each kind of device, and space for as many files and logical volumes. */
export const DISKS = { first: '304M', second: '304M', parted: '612M', group: '3G' };
const GROUP = 'vg0';
const POOL = 'pool';

export type Place = Pick<VolumeSpec, 'sparseLoopDevice' | 'rawBlockDevice' | 'lvmLogicalVolume'>;

/** Creates partitions, and a volume group with a thin pool, in a VM with these disks. */
export async function makePlaces(vm: Vm): Promise<void> {
  await vm.run(['sgdisk', '--new=1:0:+304M', '--new=2:0:+304M', vm.disk('parted')]);
  await vm.run(['udevadm', 'settle', `--exit-if-exists=${vm.disk('parted')}-part2`]);
  await vm.run(['vgcreate', GROUP, vm.disk('group')]);
  await vm.run(['lvcreate', '--yes', '--type', 'thin-pool', '-L', '1300M', '-n', POOL, GROUP]);
  // LVM does not flush the disk's cache, which a power cut would lose.
  await vm.run(['sync', vm.disk('group')]);
}

/** Returns the storage for a Volume of that kind. Two of each device exist. */
export function placeOf(vm: Vm, kind: Kind, which: 'first' | 'second'): Place {
  switch (kind) {
    case 'sparse file':
      return { sparseLoopDevice: { size: SIZE } };
    case 'disk':
      return { rawBlockDevice: { devicePath: vm.disk(which) } };
    case 'partition':
      return {
        rawBlockDevice: { devicePath: `${vm.disk('parted')}-part${which === 'first' ? 1 : 2}` },
      };
    case 'logical volume':
      return { lvmLogicalVolume: { vgName: GROUP, size: SIZE } };
    case 'thin volume':
      return { lvmLogicalVolume: { vgName: GROUP, size: SIZE, thinPool: POOL } };
  }
}

/** Returns the logical volumes that remain of a Volume. Each has its UID as a tag. */
export async function tagged(vm: Vm, uid: string): Promise<string[]> {
  const { stdout } = await vm.run(['lvs', '--noheadings', '-o', 'lv_full_name,lv_tags']);
  return stdout.split('\n').filter((line) => line.includes(uid));
}
