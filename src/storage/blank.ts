import { refuse } from '../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../nodes/job.ts';
import { failed } from './probe-results.ts';
import type { BlockDevice } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'sizeBytes'>;

/** The consent to destroy data that is of no kind that blkid or wipefs know. */
export const UNKNOWN_DATA = 'unknown data';

const MIB = 1n << 20n;
const GIB = 1n << 30n;

/** In bytes: both ends are read as far as anything has its labels there, places between only to see that nothing is there. */
const BEGINNING = 4n * MIB;
const END = MIB;
const SAMPLE = MIB / 16n;
const SAMPLES = 16n;
/** Ceph's BlueStore repeats its label at these offsets (bdev_label_positions). */
const LABELS = [1n, 10n, 100n, 1000n].map((gib) => gib * GIB);

/** Returns the places of a device that are read: offset and length in bytes. */
function places(sizeBytes: bigint): { at: bigint; length: bigint }[] {
  const beginning = sizeBytes < BEGINNING ? sizeBytes : BEGINNING;
  const end = sizeBytes > END ? sizeBytes - END : 0n;
  const even = Array.from({ length: Number(SAMPLES) }, (_, index) => {
    const at = (sizeBytes * (2n * BigInt(index) + 1n)) / (2n * SAMPLES);
    return at - (at % SAMPLE);
  });
  const between = [...even, ...LABELS].filter((at) => at >= beginning && at + SAMPLE <= end);
  return [
    { at: 0n, length: beginning },
    ...between.map((at) => ({ at, length: SAMPLE })),
    { at: end, length: sizeBytes - end },
  ];
}

/** Compares each place with zeros, by a use of cmp that wiping has, too: nothing of what is there is printed. */
const comparisons = ({ name, sizeBytes }: Device): string[][] =>
  places(sizeBytes).map(({ at, length }) => [
    ...['cmp', `--ignore-initial=${at}:0`, `--bytes=${length}`],
    ...['--', `/dev/${name}`, '/dev/zero'],
  ]);

/** Reads whether a device is blank, with what else is read of it. They read only. */
export const blankProbes = (device: Device): Probe[] =>
  comparisons(device).map((argv, index) => ({ name: `blank ${device.name} ${index}`, argv }));

/**
 * Returns whether a device reads as zeros at its beginning, its end and places between.
 * @throws ObservationError where a place cannot be read
 */
export function readBlank(device: Device, get: (name: string) => ProbeResult): boolean {
  const equal = comparisons(device).map((_, index) => {
    const result = get(`blank ${device.name} ${index}`);
    const { exit, stderr } = result;
    // cmp(1) has nothing to complain of where it finds a difference.
    if (exit !== 0 && (exit !== 1 || stderr !== ''))
      throw failed(`the content of /dev/${device.name}`, result);
    return exit === 0;
  });
  return !equal.includes(false);
}

/** Preconditions that a device which was blank still is. */
export const blankPreconditions = (device: Device): Precondition[] =>
  comparisons(device).map((argv) => ({
    argv,
    expect: { exit: 0 },
    ...refuse('DeviceNotBlank', { device: `/dev/${device.name}` }),
  }));
