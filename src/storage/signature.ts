import { FS_TYPES, type FsType, isFsType } from '../api/file-systems.ts';
import type { ProbeResult } from '../nodes/job.ts';
import { failed } from './probe-results.ts';
import type { Signature } from './types.ts';

export const blkid = (path: string) => ['blkid', '-p', '-o', 'export', path];

/** Argument of `blkid -o`: all values, or the values of some tags without their names. */
type Output = readonly ['export'] | readonly ['value', ...string[]];

const output = ([format, ...tags]: Output) => ['-o', format, ...tags.flatMap((tag) => ['-s', tag])];

/**
 * Returns a command that reads only superblocks of file systems that Stowage makes, and partition
 * tables. A pod can store bytes that blkid takes for the signature of something else, but not in
 * the places of these.
 */
export const ownBlkid = (path: string, ...format: Output) => [
  ...['blkid', '-p', '-n', FS_TYPES.join(',')],
  ...output(format),
  path,
];

/**
 * Returns a command that reads no superblock. It reports the partition's entry in the table,
 * whatever a pod stores in the partition: if blkid finds several signatures, it reports nothing
 * else.
 */
export const entryBlkid = (path: string, ...format: Output) => [
  ...['blkid', '-p', '-u', 'nofilesystem,raid,crypto,other'],
  ...output(format),
  path,
];

/** Returns a command that reports read errors, which blkid does not. */
export const readable = (path: string) => [
  'dd',
  `if=${path}`,
  'of=/dev/null',
  'bs=64K',
  'count=1',
  'status=none',
];

/**
 * Sizes (bytes) of the ends, which hold signatures: at the beginning (VMFS at 2 MiB) and at the end
 * (RAID, ZFS, the backup GPT).
 */
const BEGINNING = 4n << 20n;
const END = 1n << 20n;

/**
 * Returns commands that report read errors at both ends of a device. If an end cannot be read,
 * blkid and wipefs print nothing, as for an empty device.
 */
export const endsReadable = (path: string, sizeBytes: bigint): string[][] => {
  const last = sizeBytes > END ? sizeBytes - END : 0n;
  const read = (more: string[]) => [
    'dd',
    `if=${path}`,
    'of=/dev/null',
    'bs=1M',
    ...more,
    'status=none',
  ];
  return [read([`count=${BEGINNING >> 20n}`]), read(['iflag=skip_bytes', `skip=${last}`])];
};

/** Parses the `KEY=value` lines that `blkid -o export` prints. */
export function blkidValues(stdout: string): Map<string, string> {
  return new Map(
    stdout.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

/**
 * Returns the signature that blkid(8) found: it exits 0 for one, 2 for none, and 8 if there are
 * several. It also exits 2, without a message, if it cannot open or read the file.
 * @throws ObservationError if the signature cannot be determined
 */
export function readSignature(result: ProbeResult, read: ProbeResult): Signature {
  if (read.exit !== 0) throw failed('the content', read);
  if (result.exit === 2) return { found: 'none' };
  if (result.exit === 8) return { found: 'ambivalent' };
  if (result.exit !== 0) throw failed('the signature', result);
  const values = blkidValues(result.stdout);
  const type = values.get('TYPE') ?? values.get('PTTYPE');
  // A partition without content: blkid prints only its entry in the table.
  if (type === undefined && values.has('PART_ENTRY_NUMBER')) return { found: 'none' };
  const uuid = values.get('TYPE') === undefined ? values.get('PTUUID') : values.get('UUID');
  return { found: 'one', type: type ?? 'unknown', ...(uuid === undefined ? {} : { uuid }) };
}

export function describeSignature(signature: Signature): string {
  switch (signature.found) {
    case 'none':
      return 'nothing';
    case 'ambivalent':
      return 'more than one signature';
    case 'one':
      return `${signature.type}${signature.uuid === undefined ? '' : ` ${signature.uuid}`}`;
  }
}

/** Returns the type of the file system that was found, if Stowage makes that type. Pure. */
export const fsTypeOf = (signature: Signature): FsType | undefined =>
  signature.found === 'one' && isFsType(signature.type) ? signature.type : undefined;
