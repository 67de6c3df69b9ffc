import type { LoopFacts } from './types.ts';

/** Numbers as they were printed: an inode of a network file system can be above 2^53. */
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
 * What `losetup -J -l` and `lsblk -J -b` say of loop devices in use.
 * @throws SyntaxError when it is not JSON
 */
export function parseLoops(losetup: string, lsblk: string): LoopFacts[] {
  const sizes = new Map<string, bigint>();
  for (const row of list<{ kname: string; size: string | null }>(lsblk, 'blockdevices')) {
    if (row.size !== null) sizes.set(row.kname, BigInt(row.size));
  }
  return list<LosetupRow>(losetup, 'loopdevices').map((row) => {
    const name = row.name.replace(/^\/dev\//, '');
    return {
      name,
      number: Number(name.replace(/^loop/, '')),
      device: row['maj:min'].trim(),
      backingFile: row['back-file'] ?? '',
      backingInode: row['back-ino'] ?? '',
      autoclear: truthy(row.autoclear),
      readOnly: truthy(row.ro),
      wholeFile: Number(row.offset) === 0 && Number(row.sizelimit) === 0,
      sizeBytes: sizes.get(name) ?? 0n,
    };
  });
}

/** util-linux prints nothing at all when there is no row. */
function list<T>(text: string, key: string): T[] {
  return text.trim() === '' ? [] : ((JSON.parse(text, numberAsText) as Record<string, T[]>)[key] ?? []);
}

/** The third argument of a reviver is newer than its type. */
function numberAsText(_key: string, value: unknown, ...[context]: { source?: string }[]): unknown {
  return typeof value === 'number' ? context?.source : value;
}

/** util-linux before 2.33 prints flags as "0" and "1". */
function truthy(value: boolean | string): boolean {
  return value === true || value === '1';
}

/** The lowest number that no loop of the node has and that nobody here was promised. */
export function freeLoopNumber(loops: readonly LoopFacts[], allotted: ReadonlySet<number>): number {
  const used = new Set(loops.map((loop) => loop.number));
  let number = 0;
  while (used.has(number) || allotted.has(number)) number++;
  return number;
}
