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

/** XFS takes no less than 300 MiB. */
export const SIZE = '304Mi';
/** Two of each kind of device, and room for as many files and logical volumes. */
export const DISKS = { first: '304M', second: '304M', parted: '612M', group: '3G' };
const GROUP = 'vg0';
const POOL = 'pool';

export type Place = Pick<VolumeSpec, 'sparseLoopDevice' | 'rawBlockDevice' | 'lvmLogicalVolume'>;

/** Cuts partitions, and makes a volume group with a thin pool, in a VM with these disks. */
export async function makePlaces(vm: Vm): Promise<void> {
  await vm.run(['sgdisk', '--new=1:0:+304M', '--new=2:0:+304M', vm.disk('parted')]);
  await vm.run(['udevadm', 'settle', `--exit-if-exists=${vm.disk('parted')}-part2`]);
  await vm.run(['vgcreate', GROUP, vm.disk('group')]);
  await vm.run(['lvcreate', '--yes', '--type', 'thin-pool', '-L', '1300M', '-n', POOL, GROUP]);
  // LVM leaves it to the disk when what it wrote is kept through a power cut.
  await vm.run(['sync', vm.disk('group')]);
}

/** Where a Volume of that kind is made. There are two of each device. */
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

/** What of a Volume is left in a volume group: by the tag that each of its logical volumes has. */
export async function tagged(vm: Vm, uid: string): Promise<string[]> {
  const { stdout } = await vm.run(['lvs', '--noheadings', '-o', 'lv_full_name,lv_tags']);
  return stdout.split('\n').filter((line) => line.includes(uid));
}
