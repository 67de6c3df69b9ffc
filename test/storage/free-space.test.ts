import { expect, test } from '@jest/globals';
import type { ReasonCode } from '../../src/api/reasons.ts';
import type { ProbeResult } from '../../src/nodes/job.ts';
import { freeSpaceProbes, readFreeSpace } from '../../src/storage/free-space.ts';
import { missing, result } from '../support/fake-executor.ts';

const answers = (...results: ReturnType<typeof result>[]) =>
  new Map(freeSpaceProbes('/a/b/c').map(({ name }, index) => [name, results[index] ?? missing]));

test('freeSpaceProbes covers the directory and its parents', () => {
  expect(freeSpaceProbes('/a/b/c').map(({ argv }) => argv.at(-1))).toEqual([
    '/a/b/c',
    '/a/b',
    '/a',
  ]);
});

test.each([
  ['the directory’s own file system', [result(0, '10|4096\n'), result(0, '1|1')], 40_960n],
  ['the nearest existing parent', [missing, result(0, '7|512')], 3584n],
] as const)('readFreeSpace reports the space of %s', (_, results, bytes) => {
  expect(readFreeSpace('/a/b/c', answers(...results))).toBe(bytes);
});

test.each<[string, ReasonCode, ProbeResult[]]>([
  [
    'an error',
    'ProbeFailed',
    [result(1, '', "stat: cannot read file system information for '/a/b/c': Input/output error")],
  ],
  ['no existing parent', 'FoldersMissing', []],
  ['unexpected output', 'OutputNotUnderstood', [result(0, 'lots')]],
  ['a node without stat', 'ProbeToolMissing', [result(127)]],
])('readFreeSpace throws on %s: %s', (_, code, results) => {
  expect(() => readFreeSpace('/a/b/c', answers(...results))).toThrow(
    expect.objectContaining({
      name: 'ObservationError',
      reason: { code, parameters: expect.any(Object) },
    }),
  );
});
