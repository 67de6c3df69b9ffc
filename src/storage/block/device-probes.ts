import type { BlockDevice } from '../types.ts';

/** Repeated as a precondition: whatever it prints must be the same right before a step. */
export const identityProbe = (name: string) => [
  'lsblk',
  '--raw',
  '-n',
  '-d',
  '-b',
  '-o',
  'KNAME,MAJ:MIN,PKNAME,TYPE,SIZE,RO,SERIAL,WWN',
  `/dev/${name}`,
];

/** The same of a device and its partitions. */
export const belowProbe = (name: string) => identityProbe(name).filter((word) => word !== '-d');

/** The kernel's number of a disk since it started; a disk that comes later gets another. */
export const diskseqProbe = (disk: string) => ['cat', `/sys/class/block/${disk}/diskseq`];

/** The EUI-64, NGUID or UUID of an NVMe namespace: not all versions of udev tell it to lsblk. Other disks have no such file. */
export const wwidProbe = (disk: string) => ['cat', `/sys/class/block/${disk}/wwid`];

/** The number of a device-mapper device is given to another as soon as it is free; this is not. */
export const dmUuidProbe = (name: string) => ['cat', `/sys/class/block/${name}/dm/uuid`];

/** The name of the disk whose table a partition is in; of the device itself where it is none. */
export const wholeDisk = ({ type, parent, name }: BlockDevice): string =>
  type === 'part' && parent !== undefined ? parent : name;

/** The whole disk that a partition is on, or a path of the disk that a map of multipathd's is made of; else the device itself. */
export function diskOf(row: BlockDevice, devices: readonly BlockDevice[]): BlockDevice {
  if (row.type !== 'part' && row.type !== 'mpath') return row;
  const below = devices.find(({ name }) => name === row.parent);
  return below === undefined ? row : diskOf(below, devices);
}
