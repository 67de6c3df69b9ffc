import type { BlockDevice } from '../types.ts';

/**
 * Returns a command that prints the facts of a device. Right before a step its output must be the
 * same.
 */
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

/** Returns the same command for a device and its partitions. */
export const belowProbe = (name: string) => identityProbe(name).filter((word) => word !== '-d');

/**
 * Returns a command that reads the sequence number of a disk since boot; a later disk gets another.
 */
export const diskseqProbe = (disk: string) => ['cat', `/sys/class/block/${disk}/diskseq`];

/**
 * Returns a command that reads the EUI-64, NGUID or UUID of an NVMe namespace, which not all
 * versions of udev report to lsblk. Other disks have no such file.
 */
export const wwidProbe = (disk: string) => ['cat', `/sys/class/block/${disk}/wwid`];

/**
 * Returns a command that reads a device-mapper UUID. The kernel reuses the number of a device as
 * soon as it is free, but not the UUID.
 */
export const dmUuidProbe = (name: string) => ['cat', `/sys/class/block/${name}/dm/uuid`];

/** Returns the name of the disk whose table a partition is in; for other devices their own name. */
export const wholeDisk = ({ type, parent, name }: BlockDevice): string =>
  type === 'part' && parent !== undefined ? parent : name;

/**
 * Returns the whole disk of a partition, or one path of the disk below a multipath map; else the
 * device itself.
 */
export function diskOf(row: BlockDevice, devices: readonly BlockDevice[]): BlockDevice {
  if (row.type !== 'part' && row.type !== 'mpath') return row;
  const below = devices.find(({ name }) => name === row.parent);
  return below === undefined ? row : diskOf(below, devices);
}
