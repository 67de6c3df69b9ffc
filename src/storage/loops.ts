import type { LoopFacts } from './types.ts';

interface LosetupRow {
  name: string;
  'back-file': string | null;
  'back-ino': string | number | null;
  'maj:min': string;
  autoclear: boolean | string | number;
  ro: boolean | string | number;
  offset: string | number;
  sizelimit: string | number;
}

/**
 * What `losetup -J -l` and `lsblk -J -b` say of loop devices in use.
 * @throws SyntaxError when it is not JSON
 */
export function parseLoops(losetup: string, lsblk: string): LoopFacts[] {
  const sizes = new Map<string, bigint>();
  for (const row of list<{ kname: string; size: string | number | null }>(lsblk, 'blockdevices')) {
    if (row.size !== null) sizes.set(row.kname, BigInt(row.size));
  }
  return list<LosetupRow>(losetup, 'loopdevices').map((row) => {
    const name = row.name.replace(/^\/dev\//, '');
    return {
      name,
      number: Number(name.replace(/^loop/, '')),
      device: row['maj:min'].trim(),
      backingFile: row['back-file'] ?? '',
      backingInode: String(row['back-ino'] ?? ''),
      autoclear: truthy(row.autoclear),
      readOnly: truthy(row.ro),
      wholeFile: Number(row.offset) === 0 && Number(row.sizelimit) === 0,
      sizeBytes: sizes.get(name) ?? 0n,
    };
  });
}

/** util-linux prints nothing at all when there is no row. */
function list<T>(text: string, key: string): T[] {
  return text.trim() === '' ? [] : ((JSON.parse(text) as Record<string, T[]>)[key] ?? []);
}

/** util-linux before 2.33 prints flags as "0" and "1". */
function truthy(value: boolean | string | number): boolean {
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** The lowest number that no loop of the node has and that nobody here was promised. */
export function freeLoopNumber(loops: readonly LoopFacts[], allotted: ReadonlySet<number>): number {
  const used = new Set(loops.map((loop) => loop.number));
  let number = 0;
  while (used.has(number) || allotted.has(number)) number++;
  return number;
}
