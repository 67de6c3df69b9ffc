import { describe, expect, test } from '@jest/globals';
import { parseBlockDevices } from '../../src/storage/block-devices.ts';
import { freeLoopNumber, parseLoops } from '../../src/storage/loops.ts';
import { loop } from '../support/volume-input.ts';

/** Returns a row in the format of util-linux 2.38. */
const row = (name: string, more = '') => `      {
         "name": "/dev/${name}",
         "back-file": "/a/${name}",
         "back-ino": 9986563,
         "maj:min": "  7:6  ",
         "autoclear": false,
         "ro": false,
         "offset": 0,
         "sizelimit": 0${more}
      }`;
const losetup = (...rows: string[]) => `{\n   "loopdevices": [\n${rows.join(',\n')}\n   ]\n}`;
const lsblk = (...sizes: [name: string, size: string][]) =>
  parseBlockDevices(
    `{"blockdevices": [${sizes.map(([name, size]) => `{"kname": "${name}", "maj:min": "7:6", "size": ${size}}`)}]}`,
  );
const DEVICES = lsblk(['loop6', '16777216'], ['zram0', '0']);

const loop6 = {
  name: 'loop6',
  number: 6,
  device: '7:6',
  backingFile: '/a/loop6',
  backingInode: '9986563',
  autoclear: false,
  readOnly: false,
  wholeFile: true,
  sizeBytes: 16777216n,
};

describe('parseLoops', () => {
  test.each([
    ['no output at all', ''],
    ['a newline', '\n'],
    ['an empty list', losetup()],
  ])('finds no loop device in %s', (_, text) => {
    expect(parseLoops(text, DEVICES)).toEqual([]);
  });

  test('reads one loop device with its size', () => {
    expect(parseLoops(losetup(row('loop6')), DEVICES)).toEqual([loop6]);
  });

  test('reads many loop devices', () => {
    const names = Array.from({ length: 100 }, (_, number) => `loop${number}`);
    const loops = parseLoops(losetup(...names.map((name) => row(name))), DEVICES);
    expect(loops.map(({ name }) => name)).toEqual(names);
    expect(loops.map(({ number }) => number)).toEqual(names.map((_, number) => number));
  });

  test('reads flags and numbers in the format of util-linux before 2.33', () => {
    const old = (flag: string) =>
      `{"loopdevices": [{"name": "/dev/loop6", "back-file": "/a/loop6", "back-ino": "9986563", "maj:min": "7:6",
        "autoclear": "${flag}", "ro": "${flag}", "offset": "0", "sizelimit": "0"}]}`;
    const devices = lsblk(['loop6', '"16777216"']);
    expect(parseLoops(old('0'), devices)).toEqual([loop6]);
    expect(parseLoops(old('1'), devices)).toEqual([{ ...loop6, autoclear: true, readOnly: true }]);
  });

  test.each([
    ['autoclear', '"autoclear": true', { autoclear: true }],
    ['read-only', '"ro": true', { readOnly: true }],
    ['an offset', '"offset": 512', { wholeFile: false }],
    ['a limit', '"sizelimit": 512', { wholeFile: false }],
    ['a removed file', '"back-file": "/a/loop6 (deleted)"', { backingFile: '/a/loop6 (deleted)' }],
    ['a file with quotes', '"back-file": "/a\\"b: 1"', { backingFile: '/a"b: 1' }],
    // A double has 53 bits: it would read this number as …992.
    ['a long inode', '"back-ino": 9007199254740993', { backingInode: '9007199254740993' }],
  ])('reads a loop device with %s', (_, more, facts) => {
    expect(parseLoops(losetup(row('loop6', `,\n         ${more}`)), DEVICES)).toEqual([
      { ...loop6, ...facts },
    ]);
  });

  test('reads size 0 if lsblk does not list the device', () => {
    expect(parseLoops(losetup(row('loop6')), [])).toEqual([{ ...loop6, sizeBytes: 0n }]);
  });

  test.each(['losetup: unknown column', '{'])('rejects %j', (text) => {
    expect(() => parseLoops(text, DEVICES)).toThrow(SyntaxError);
  });
});

describe('a free loop number', () => {
  const numbered = (...numbers: number[]) => numbers.map((number) => ({ ...loop, number }));
  test.each([
    ['if none is used', numbered(), [], 0],
    ['after those used', numbered(0, 1), [], 2],
    ['in a gap', numbered(2, 0), [], 1],
    ['that is not reserved', numbered(0, 3), [1, 2, 4], 5],
  ])('is the lowest %s', (_, loops, allotted, number) => {
    expect(freeLoopNumber(loops, new Set(allotted))).toBe(number);
  });

  test.each([
    [0, 1],
    [1, 4],
    [2, 5],
  ])('is higher after %i attempts that lost the race', (lost, number) => {
    expect(freeLoopNumber(numbered(0, 3), new Set([2]), lost)).toBe(number);
  });
});
