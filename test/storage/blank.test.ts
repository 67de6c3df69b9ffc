import { expect, test } from '@jest/globals';
import { blankPreconditions, blankProbes, readBlank } from '../../src/storage/blank.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';

const MIB = 1n << 20n;
const GIB = 1n << 30n;

/** Responds like cmp on a device of zeros with other bytes at some offsets. */
function read(sizeBytes: bigint, data: readonly bigint[]): boolean {
  const device = { name: 'sdb', sizeBytes };
  const answers = new Map(
    blankProbes(device).map(({ name, argv }) => {
      const { at, end } = placeOf(argv);
      const differs = data.some((byte) => byte >= at && byte < end);
      return [name, { exit: differs ? 1 : 0, stdout: '', stderr: '' }];
    }),
  );
  return readBlank(
    device,
    (name) => answers.get(name) ?? { exit: 127, stdout: '', stderr: 'not asked' },
  );
}

function placeOf([, initial = '', bytes = '']: readonly string[]): { at: bigint; end: bigint } {
  const at = BigInt(/=(\d+):0$/.exec(initial)?.[1] ?? '');
  return { at, end: at + BigInt(bytes.replace('--bytes=', '')) };
}

test.each([
  ['zeros', [], true],
  ['data at the first byte', [0n], false],
  ['data at the second byte', [1n], false],
  ['data at 1 MiB', [MIB], false],
  ['data at the last byte', [400n * GIB - 1n], false],
  ['data at the last MiB', [400n * GIB - MIB], false],
  ['data in the middle', [12n * ((400n * GIB) / 32n) + (400n * GIB) / 32n], false],
  ['a label of BlueStore at 1 GiB', [GIB], false],
  ['a label of BlueStore at 10 GiB', [10n * GIB], false],
  ['a label of BlueStore at 100 GiB', [100n * GIB], false],
])('readBlank checks a device with %s (other bytes at: %s)', (_, facts, expected) => {
  expect(read(400n * GIB, facts)).toBe(expected);
});

test.each([4n * MIB, 4n * MIB + 4096n, 5n * MIB, 5n * MIB + 512n, 64n * MIB, 1n << 44n])(
  'the check for a blank device of %d bytes reads its last byte, and not beyond',
  (sizeBytes) => {
    const ends = blankPreconditions({ name: 'sdb', sizeBytes }).map(
      ({ argv }) => placeOf(argv).end,
    );
    expect(ends.filter((end) => end > sizeBytes)).toEqual([]);
    expect(ends).toContain(sizeBytes);
    expect(read(sizeBytes, [])).toBe(true);
    expect(read(sizeBytes, [sizeBytes - 1n])).toBe(false);
  },
);

test('readBlank throws if a part of the device cannot be read', () => {
  const device = { name: 'sdb', sizeBytes: GIB };
  const answer = (name: string) =>
    name === 'blank sdb 3'
      ? { exit: 2, stdout: '', stderr: 'cmp: /dev/sdb: Input/output error' }
      : { exit: 0, stdout: ' 00', stderr: '' };
  expect(() => readBlank(device, answer)).toThrow(ObservationError);
});
