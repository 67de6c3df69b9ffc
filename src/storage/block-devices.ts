import { list, truthy } from './json-rows.ts';
import type { BlockDevice } from './types.ts';

/**
 * Command without `-l`, which would list a device with several parents under only one of them
 * (lsblk(8), since 2.34).
 */
export const LSBLK = ['lsblk', '-J', '-b', '-o', 'KNAME,MAJ:MIN,PKNAME,TYPE,SIZE,RO,SERIAL,WWN'];

interface Row {
  kname: string;
  'maj:min': string;
  pkname: string | null;
  type: string | null;
  size: string | null;
  ro: boolean | string;
  serial: string | null;
  wwn: string | null;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/**
 * Parses the output of `LSBLK`.
 * @throws SyntaxError if it is not JSON, or a row names no device
 */
export function parseBlockDevices(lsblk: string): BlockDevice[] {
  const rows = list<Row>(lsblk, 'blockdevices').map((row) => {
    const [name, device] = [textOf(row.kname), textOf(row['maj:min'])];
    if (name === undefined || device === undefined)
      throw new SyntaxError('a row of lsblk names no device');
    return {
      name,
      device: device.trim(),
      parent: textOf(row.pkname),
      type: textOf(row.type) ?? '',
      sizeBytes: BigInt(row.size ?? '0'),
      readOnly: truthy(row.ro),
      serial: textOf(row.serial),
      wwn: textOf(row.wwn),
    };
  });
  // lsblk repeats a subtree under each parent of its root: keep one row per name and parent.
  return [...new Map(rows.map((row) => [`${row.name} ${row.parent}`, row])).values()];
}

/** Returns the partitions of a disk that the kernel knows. */
export function partitionsOf(name: string, devices: readonly BlockDevice[]): BlockDevice[] {
  return devices.filter(({ parent, type }) => parent === name && type === 'part');
}
