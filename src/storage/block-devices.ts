import { list, truthy } from './json-rows.ts';
import type { BlockDevice } from './types.ts';

/** Without `-l`, which would print a device that is made of several under one of them only (lsblk(8), since 2.34). */
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

/**
 * What `LSBLK` printed.
 * @throws SyntaxError when it is not JSON
 */
export function parseBlockDevices(lsblk: string): BlockDevice[] {
  const rows = list<Row>(lsblk, 'blockdevices').map((row) => ({
    name: row.kname,
    device: row['maj:min'].trim(),
    parent: row.pkname ?? undefined,
    type: row.type ?? '',
    sizeBytes: BigInt(row.size ?? '0'),
    readOnly: truthy(row.ro),
    serial: row.serial ?? undefined,
    wwn: row.wwn ?? undefined,
  }));
  // A device that is stacked on one of several parents is listed once for each.
  return [...new Map(rows.map((row) => [`${row.name} ${row.parent}`, row])).values()];
}

/** The partitions of a disk that the kernel knows. */
export function partitionsOf(name: string, devices: readonly BlockDevice[]): BlockDevice[] {
  return devices.filter(({ parent, type }) => parent === name && type === 'part');
}
