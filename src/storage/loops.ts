import { list, truthy } from './json-rows.ts';
import type { BlockDevice, LoopFacts } from './types.ts';

export const LOSETUP = [
  'losetup',
  '-J',
  '-l',
  '-O',
  'NAME,BACK-FILE,BACK-INO,MAJ:MIN,AUTOCLEAR,RO,OFFSET,SIZELIMIT',
];

interface LosetupRow {
  name: string;
  'back-file': string | null;
  'back-ino': string | null;
  'maj:min': string;
  autoclear: boolean | string;
  ro: boolean | string;
  offset: string;
  sizelimit: string;
}

/**
 * Parses the loop devices in use from the output of `LOSETUP`, with their sizes from lsblk.
 * @throws SyntaxError if the output is not JSON
 */
export function parseLoops(losetup: string, devices: readonly BlockDevice[]): LoopFacts[] {
  const sizes = new Map(devices.map(({ name, sizeBytes }) => [name, sizeBytes]));
  return list<LosetupRow>(losetup, 'loopdevices').map((row) => {
    const name = row.name.replace(/^\/dev\//, '');
    return {
      name,
      number: Number(name.replace(/^loop/, '')),
      device: row['maj:min'].trim(),
      backingFile: String(row['back-file'] ?? ''),
      backingInode: String(row['back-ino'] ?? ''),
      autoclear: truthy(row.autoclear),
      readOnly: truthy(row.ro),
      wholeFile: Number(row.offset) === 0 && Number(row.sizelimit) === 0,
      sizeBytes: sizes.get(name) ?? 0n,
    };
  });
}

/**
 * Returns the lowest number that no loop device of the node has and that is not reserved. After
 * `lost` attempts that other programs won, it skips as many free numbers, because others take the
 * lowest too.
 */
export function freeLoopNumber(
  loops: readonly LoopFacts[],
  allotted: ReadonlySet<number>,
  lost = 0,
): number {
  const used = new Set(loops.map((loop) => loop.number));
  let left = lost;
  for (let number = 0; ; number++) {
    if (used.has(number) || allotted.has(number)) continue;
    if (left === 0) return number;
    left -= 1;
  }
}
