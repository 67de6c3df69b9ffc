import type { Probe, ProbeResult } from '../../nodes/job.ts';
import type { BlockDevice } from '../types.ts';

/** Offset (bytes) of the disk's GUID in the header of a GPT (UEFI, table 5-5). */
const IN_HEADER = 56n;
const SECTORS = [512n, 4096n];

/**
 * Returns the offsets of the headers of a GPT and its backup, in the second sector and the last.
 * Sectors have one of two sizes.
 */
const headersOf = (sizeBytes: bigint): bigint[] =>
  SECTORS.flatMap((sector) => [sector, sizeBytes - sector]).filter((at) => at > 0n);

/**
 * Returns probes of the disk's GUID: blkid and sgdisk report none of a table whose first copy is
 * gone.
 */
export const guidProbes = ({ name, sizeBytes }: BlockDevice): Probe[] =>
  headersOf(sizeBytes).map((at, index) => ({
    name: `guid ${index}`,
    argv: ['od', '-A', 'n', '-t', 'x1', '-j', String(at + IN_HEADER), '-N', '16', `/dev/${name}`],
  }));

/** Returns the bytes at these offsets as GUIDs, whether or not a table is around them. */
export function readGuids(results: ReadonlyMap<string, ProbeResult>): string[] {
  return [...results].flatMap(([name, { exit, stdout }]) => {
    const bytes = stdout.trim().split(/\s+/);
    return name.startsWith('guid ') && exit === 0 && bytes.length === 16 ? [guidOf(bytes)] : [];
  });
}

/**
 * Formats a GUID (UEFI, appendix A): the first three parts are little-endian, the last two are in
 * order.
 */
function guidOf(bytes: readonly string[]): string {
  const part = (...indexes: number[]) => indexes.map((index) => bytes[index]).join('');
  return [part(3, 2, 1, 0), part(5, 4), part(7, 6), part(8, 9), part(10, 11, 12, 13, 14, 15)].join(
    '-',
  );
}
