import { refuse } from '../api/reasons.ts';
import type { Precondition, Step } from '../nodes/job.ts';
import { writeWiped } from './records.ts';

const MIB = 1n << 20n;
/** A part is a hundredth, which shows how far it is, and no less than this, in bytes. */
const SMALLEST_PART = 64n * MIB;

/** Of a device, on which somebody else can put something meanwhile. */
interface Device {
  /** What is done once wiping is on record. */
  first: readonly Step[];
  /** Preconditions that the content is the observed one, before wiping is on record: from then on any content is overwritten. */
  known: readonly Precondition[];
  /** That nothing came to it before its first part. */
  untouched: readonly Precondition[];
}

/**
 * Overwrites every byte with zero and reads each part back. What is done of it is recorded after each part, so that a
 * crash costs one part. Preconditions of who owns the place are the caller's: they stand before every part.
 * @param from where an earlier try came to, in bytes
 * @param extra what makes the parts those of a file or of a device, maybe a thin one
 */
export function wipe(
  uid: string,
  path: string,
  sizeBytes: bigint,
  from: bigint | undefined,
  extra: Pick<Step, 'preconditions' | 'lock'> & {
    isFile: boolean;
    thin?: boolean;
  } & Partial<Device>,
): Step[] {
  const part = partOf(sizeBytes);
  // The record comes before the first byte: what has no signature any more must still be known as ours.
  const { preconditions, lock, known = [] } = extra;
  const held = {
    preconditions: [...preconditions, ...known],
    ...(lock === undefined ? {} : { lock }),
  };
  const steps: Step[] = [
    ...(from === undefined ? writeWiped(uid, 0n, held) : []),
    ...(extra.first ?? []),
  ];
  for (let at = from ?? 0n; at < sizeBytes; at += part) {
    const length = sizeBytes - at < part ? sizeBytes - at : part;
    const percent = ((at + length) * 100n) / sizeBytes;
    steps.push(
      {
        name: `wipe ${path}, up to ${percent}%`,
        argv: zeros(path, at, length, extra.isFile),
        preconditions: [
          ...extra.preconditions,
          ...(extra.untouched === undefined ? [] : contentPreconditions(path, at, extra.untouched)),
        ],
        ...(extra.lock === undefined ? {} : { lock: extra.lock }),
      },
      {
        name: `read back ${path}, up to ${percent}%`,
        argv: ['cmp', `--ignore-initial=${at}:0`, `--bytes=${length}`, '--', path, '/dev/zero'],
        preconditions: [],
      },
      ...(extra.isFile ? [giveBack(path, at, length)] : []),
      ...(extra.thin ? [discard(path, at, length)] : []),
      ...writeWiped(uid, at + length),
    );
  }
  return steps;
}

const zeros = (path: string, at: bigint, length: bigint, isFile: boolean): string[] => [
  ...['dd', 'if=/dev/zero', `of=${path}`, 'bs=1M'],
  ...[
    'iflag=count_bytes',
    `oflag=seek_bytes${isFile ? '' : ',direct'}`,
    `seek=${at}`,
    `count=${length}`,
  ],
  ...['conv=notrunc,nocreat,fsync', 'status=none'],
];

/**
 * Writes zeros from the first byte of a device to its last. Nothing is recorded: after a crash it begins from the first byte.
 * @param preconditions before each part
 * @param first before the first part as well
 */
export function zero(
  path: string,
  sizeBytes: bigint,
  {
    preconditions,
    first,
    lock,
  }: { preconditions: readonly Precondition[]; first: readonly Precondition[]; lock: string },
): Step[] {
  const part = partOf(sizeBytes);
  const steps: Step[] = [];
  for (let at = 0n; at < sizeBytes; at += part) {
    const length = sizeBytes - at < part ? sizeBytes - at : part;
    steps.push({
      name: `write zeros to ${path}, up to ${((at + length) * 100n) / sizeBytes}%`,
      argv: zeros(path, at, length, false),
      preconditions: at === 0n ? [...preconditions, ...first] : preconditions,
      lock,
    });
  }
  return steps;
}

/** Compares the beginning of a device with zeros: `bytes`, or as much as everything that can be made on it writes to. */
export const readsZero = (path: string, bytes = MIB): string[] => [
  'cmp',
  `--bytes=${bytes}`,
  '--',
  path,
  '/dev/zero',
];

/** Parts are minutes apart, and no lock is held between them. */
function contentPreconditions(
  path: string,
  at: bigint,
  untouched: readonly Precondition[],
): readonly Precondition[] {
  if (at === 0n) return untouched;
  return [
    {
      argv: readsZero(path),
      expect: { exit: 0 },
      ...refuse('WrittenWhileWiped', { path }),
    },
  ];
}

/** A sparse file would else take up all of its size while it is wiped. */
function giveBack(path: string, at: bigint, length: bigint): Step {
  return {
    name: 'give the space back',
    argv: [
      'fallocate',
      '--punch-hole',
      '--offset',
      String(at),
      '--length',
      String(length),
      '--',
      path,
    ],
    preconditions: [],
  };
}

/** The same of a thin volume, whose pool may not have room for all of it. */
function discard(path: string, at: bigint, length: bigint): Step {
  return {
    name: 'give the space back to the thin pool',
    argv: ['blkdiscard', '--offset', String(at), '--length', String(length), path],
    preconditions: [],
  };
}

/** How many bytes are overwritten before it is recorded; what a thin volume may take of its pool meanwhile. */
export function partOf(sizeBytes: bigint): bigint {
  const hundredth = (sizeBytes + 99n) / 100n;
  const whole = ((hundredth + MIB - 1n) / MIB) * MIB;
  return whole < SMALLEST_PART ? SMALLEST_PART : whole;
}
