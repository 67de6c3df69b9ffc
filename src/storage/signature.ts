import { FS_TYPES, type FsType, isFsType } from '../api/file-systems.ts';
import type { ProbeResult } from '../nodes/job.ts';
import { failed } from './probe-results.ts';
import type { Signature } from './types.ts';

export const blkid = (path: string) => ['blkid', '-p', '-o', 'export', path];

/** As `blkid -o` takes it: all values, or those of some tags without their names. */
type Output = readonly ['export'] | readonly ['value', ...string[]];

const output = ([format, ...tags]: Output) => ['-o', format, ...tags.flatMap((tag) => ['-s', tag])];

/**
 * Reads only superblocks of file systems that Stowage makes, and partition tables. A pod can store bytes in a file that blkid
 * takes for the signature of something else; none of its bytes get where these are.
 */
export const ownBlkid = (path: string, ...format: Output) => [
  ...['blkid', '-p', '-n', FS_TYPES.join(',')],
  ...output(format),
  path,
];

/**
 * Reads no superblock at all. Whatever a pod stores in a partition, the partition's entry in the table is told: where blkid
 * finds several signatures, it tells nothing else.
 */
export const entryBlkid = (path: string, ...format: Output) => [
  ...['blkid', '-p', '-u', 'nofilesystem,raid,crypto,other'],
  ...output(format),
  path,
];

/** blkid says nothing of why it could not read; this does. */
export const readable = (path: string) => [
  'dd',
  `if=${path}`,
  'of=/dev/null',
  'bs=64K',
  'count=1',
  'status=none',
];

/** In bytes: signatures are at the beginning (VMFS at 2 MiB) and at the end (RAID, ZFS, the copy of a GPT). */
const BEGINNING = 4n << 20n;
const END = 1n << 20n;

/** The same of a device: where one of its ends cannot be read, blkid and wipefs print nothing, as for an empty one. */
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

/** The `KEY=value` lines that `blkid -o export` prints. */
export function blkidValues(stdout: string): Map<string, string> {
  return new Map(
    stdout.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}

/**
 * blkid(8): 0 something, 2 nothing, 8 ambivalent: more than one thing is there. It also exits 2, and says nothing,
 * when it may not open the file or cannot read it.
 * @throws ObservationError where it can't be told
 */
export function readSignature(result: ProbeResult, read: ProbeResult): Signature {
  if (read.exit !== 0) throw failed('the content', read);
  if (result.exit === 2) return { found: 'none' };
  if (result.exit === 8) return { found: 'ambivalent' };
  if (result.exit !== 0) throw failed('the signature', result);
  const values = blkidValues(result.stdout);
  const type = values.get('TYPE') ?? values.get('PTTYPE');
  // A partition without content: what is printed is its place in the table alone.
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

/** The file system that was found, if it is one that Stowage makes. Pure. */
export const fsTypeOf = (signature: Signature): FsType | undefined =>
  signature.found === 'one' && isFsType(signature.type) ? signature.type : undefined;
