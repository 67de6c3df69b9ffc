import { refuse } from '../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../nodes/job.ts';
import { failed } from './probe-results.ts';
import type { BlockDevice } from './types.ts';

type Device = Pick<BlockDevice, 'name' | 'sizeBytes'>;

/** Name of data that neither blkid nor wipefs recognizes, as content and consent have it. */
export const UNKNOWN_DATA = 'unknown data';

const MIB = 1n << 20n;
const GIB = 1n << 30n;

/**
 * Sizes (bytes) of the regions to read: both ends, as far as any format puts labels, and samples
 * between them.
 */
const BEGINNING = 4n * MIB;
const END = MIB;
const SAMPLE = MIB / 16n;
const SAMPLES = 16n;
/** Offsets (bytes) at which Ceph's BlueStore repeats its label (bdev_label_positions). */
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

/**
 * Returns commands that compare each place with zeros. They use cmp as wiping does, which prints
 * none of the content.
 */
const comparisons = ({ name, sizeBytes }: Device): string[][] =>
  places(sizeBytes).map(({ at, length }) => [
    ...['cmp', `--ignore-initial=${at}:0`, `--bytes=${length}`],
    ...['--', `/dev/${name}`, '/dev/zero'],
  ]);

/** Returns read-only probes that show whether a device is blank. */
export const blankProbes = (device: Device): Probe[] =>
  comparisons(device).map((argv, index) => ({ name: `blank ${device.name} ${index}`, argv }));

/**
 * Reports whether a device reads as zeros at its beginning, its end and places between.
 * @throws ObservationError if a place cannot be read
 */
export function readBlank(device: Device, get: (name: string) => ProbeResult): boolean {
  const equal = comparisons(device).map((_, index) => {
    const result = get(`blank ${device.name} ${index}`);
    const { exit, stderr } = result;
    // cmp(1) exits 1 without an error message if it finds a difference.
    if (exit !== 0 && (exit !== 1 || stderr !== ''))
      throw failed(`the content of /dev/${device.name}`, result);
    return exit === 0;
  });
  return !equal.includes(false);
}

/** Requires that a blank device is still blank. */
export const blankPreconditions = (device: Device): Precondition[] =>
  comparisons(device).map((argv) => ({
    argv,
    expect: { exit: 0 },
    ...refuse('DeviceNotBlank', { device: `/dev/${device.name}` }),
  }));
