import { expect, test } from '@jest/globals';
import { freeSpaceProbes, readFreeSpace } from '../../src/storage/free-space.ts';
import { missing, result } from '../support/fake-executor.ts';

const answers = (...results: ReturnType<typeof result>[]) =>
  new Map(freeSpaceProbes('/a/b/c').map(({ name }, index) => [name, results[index] ?? missing]));

test('asks for the folder and for all above it', () => {
  expect(freeSpaceProbes('/a/b/c').map(({ argv }) => argv.at(-1))).toEqual([
    '/a/b/c',
    '/a/b',
    '/a',
  ]);
});

test.each([
  ['its own file system', [result(0, '10|4096\n'), result(0, '1|1')], 40_960n],
  ['the nearest that is there', [missing, result(0, '7|512')], 3584n],
] as const)('is that of %s', (_, results, bytes) => {
  expect(readFreeSpace('/a/b/c', answers(...results))).toBe(bytes);
});

test.each([
  [
    'an error',
    [result(1, '', "stat: cannot read file system information for '/a/b/c': Input/output error")],
  ],
  ['nothing that is there', []],
  ['what is not understood', [result(0, 'lots')]],
  ['a node without stat', [result(127)]],
])('is not told by %s', (_, results) => {
  expect(() => readFreeSpace('/a/b/c', answers(...results))).toThrow(
    expect.objectContaining({ name: 'ObservationError' }),
  );
});
