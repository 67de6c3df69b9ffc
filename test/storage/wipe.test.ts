import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { wipe } from '../../src/storage/wipe.ts';
import { TEST_SEED } from '../support/test-seed.ts';
import { UID } from '../support/volume-input.ts';

const precondition = { argv: ['true'], expect: { exit: 0 }, refusal: 'x' };
const steps = (size: bigint, from: bigint | undefined, isFile = false) =>
  wipe(UID, '/dev/sdb', size, from, { preconditions: [precondition], lock: '/dev/sdb', isFile });
const numberAfter = (argv: readonly string[], name: string) =>
  BigInt(argv.find((word) => word.startsWith(name))?.slice(name.length) ?? -1);

test('every byte is overwritten once, each part verified and recorded after it', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.bigInt(1n, 1n << 31n), fc.bigInt(1n, 1n << 50n)),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      fc.boolean(),
      (size, part, isFile) => {
        const from =
          part === undefined ? undefined : (size * BigInt(Math.floor(part * 1000))) / 1000n;
        const made = steps(size, from, isFile);
        let at = from ?? 0n;
        let index = from === undefined ? 3 : 0;
        let parts = 0;
        while (index < made.length) {
          const [write, read] = [made[index], made[index + 1]];
          const length = numberAfter(write?.argv ?? [], 'count=');
          expect(write?.argv).toContain('of=/dev/sdb');
          expect(write?.preconditions).toEqual([precondition]);
          expect(write?.lock).toBe('/dev/sdb');
          expect(numberAfter(write?.argv ?? [], 'seek=')).toBe(at);
          expect(read?.argv.slice(0, 3)).toEqual([
            'cmp',
            `--ignore-initial=${at}:0`,
            `--bytes=${length}`,
          ]);
          expect(length).toBeGreaterThan(0n);
          at += length;
          const percent = `up to ${(at * 100n) / size}%`;
          expect(write?.name).toContain(percent);
          expect(read?.name).toContain(percent);
          index += isFile ? 3 : 2;
          expect(made[index]?.stdin).toBe(`${at}\n`);
          index += 3;
          parts++;
        }
        expect(at).toBe(size);
        expect(parts).toBeLessThanOrEqual(101);
      },
    ),
    { seed: TEST_SEED },
  );
});

test('the record is written before the first byte', () => {
  const [first, second, third, fourth] = steps(1n << 30n, undefined);
  // Once the record exists, any content of the device counts as left by the wipe.
  expect(second).toMatchObject({ preconditions: [precondition], lock: '/dev/sdb' });
  expect(first).toMatchObject({ stdin: '0\n', argv: expect.arrayContaining(['conv=fsync']) });
  expect([second?.argv[0], third?.argv[0], fourth?.argv[1]]).toEqual([
    'mv',
    'sync',
    'if=/dev/zero',
  ]);
});

test('no steps are planned once all is wiped', () => expect(steps(4096n, 4096n)).toEqual([]));

test('a device is written with direct I/O, and a file frees its space', () => {
  expect(steps(4096n, 0n)[0]?.argv).toContain('oflag=seek_bytes,direct');
  const file = steps(4096n, 0n, true);
  expect(file[0]?.argv).toContain('oflag=seek_bytes');
  expect(file[2]?.argv).toEqual([
    ...['fallocate', '--punch-hole', '--offset', '0', '--length', '4096', '--', '/dev/sdb'],
  ]);
});
