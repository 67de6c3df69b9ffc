import type { Probe, ProbeResult } from '../../nodes/job.ts';
import type { BlockDevice } from '../types.ts';

/** Where the disk's GUID is in the header of a GPT (UEFI, table 5-5), in bytes. */
const IN_HEADER = 56n;
const SECTORS = [512n, 4096n];

/** The headers of a GPT and of its copy, in the second sector and the last: sectors have one of two sizes. */
const headersOf = (sizeBytes: bigint): bigint[] =>
  SECTORS.flatMap((sector) => [sector, sizeBytes - sector]).filter((at) => at > 0n);

/** blkid tells no GUID of a table whose first copy is gone, and sgdisk neither. */
export const guidProbes = ({ name, sizeBytes }: BlockDevice): Probe[] =>
  headersOf(sizeBytes).map((at, index) => ({
    name: `guid ${index}`,
    argv: ['od', '-A', 'n', '-t', 'x1', '-j', String(at + IN_HEADER), '-N', '16', `/dev/${name}`],
  }));

/** What stands there, as GUIDs: whether or not a table is around it. */
export function readGuids(results: ReadonlyMap<string, ProbeResult>): string[] {
  return [...results].flatMap(([name, { exit, stdout }]) => {
    const bytes = stdout.trim().split(/\s+/);
    return name.startsWith('guid ') && exit === 0 && bytes.length === 16 ? [guidOf(bytes)] : [];
  });
}

/** UEFI, appendix A: the first three parts are little-endian, the last two are as they are written. */
function guidOf(bytes: readonly string[]): string {
  const part = (...indexes: number[]) => indexes.map((index) => bytes[index]).join('');
  return [part(3, 2, 1, 0), part(5, 4), part(7, 6), part(8, 9), part(10, 11, 12, 13, 14, 15)].join(
    '-',
  );
}
