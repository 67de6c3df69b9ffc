import { refuse } from '../api/reasons.ts';
import type { Precondition, Step } from '../nodes/job.ts';
import { writeWiped } from './records.ts';

const MIB = 1n << 20n;
/** Minimum size (bytes) of a part, which otherwise is a hundredth, to show progress. */
const SMALLEST_PART = 64n * MIB;

/** Options for a device, to which another program can write meanwhile. */
interface Device {
  /** Steps that run once wiping is on record. */
  first: readonly Step[];
  /**
   * Preconditions that the content is the observed one, checked before wiping is on record: from
   * then on any content is overwritten.
   */
  known: readonly Precondition[];
  /** Preconditions that nothing was written to the device before its first part. */
  untouched: readonly Precondition[];
}

/**
 * Returns steps that overwrite every byte with zero and read each part back. Progress is recorded
 * after each part, so that a crash costs one part. Every part has the caller's preconditions on the
 * owner of the place.
 * @param from offset (bytes) that an earlier attempt reached
 * @param extra options for a file or a device, which may be thin
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
  // The record precedes the first byte: storage that lost its signature must still be known as the
  // Volume's.
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
        name: `verify ${path}, up to ${percent}%`,
        argv: ['cmp', `--ignore-initial=${at}:0`, `--bytes=${length}`, '--', path, '/dev/zero'],
        preconditions: [],
      },
      ...(extra.isFile ? [punchHole(path, at, length)] : []),
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
 * Returns steps that write zeros to a whole device. Nothing is recorded: after a crash, the steps
 * start again from the first byte.
 * @param preconditions of each part
 * @param first additional preconditions of the first part
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

/**
 * Returns a command that compares the beginning of a device with zeros: `bytes`, by default as much
 * as every file system and table writes to.
 */
export const readsZero = (path: string, bytes = MIB): string[] => [
  'cmp',
  `--bytes=${bytes}`,
  '--',
  path,
  '/dev/zero',
];

/** Requires unchanged content: parts are minutes apart, and no lock is held between them. */
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

/**
 * Returns a step that frees space: otherwise a sparse file would occupy its full size during a
 * wipe.
 */
function punchHole(path: string, at: bigint, length: bigint): Step {
  return {
    name: 'free the wiped space',
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

/** Returns the same step for a thin volume, whose pool may lack space for all of it. */
function discard(path: string, at: bigint, length: bigint): Step {
  return {
    name: 'return the wiped space to the thin pool',
    argv: ['blkdiscard', '--offset', String(at), '--length', String(length), path],
    preconditions: [],
  };
}

/**
 * Returns the size (bytes) of the parts between two records, which is also the most that a thin
 * volume takes from its pool meanwhile.
 */
export function partOf(sizeBytes: bigint): bigint {
  const hundredth = (sizeBytes + 99n) / 100n;
  const whole = ((hundredth + MIB - 1n) / MIB) * MIB;
  return whole < SMALLEST_PART ? SMALLEST_PART : whole;
}
