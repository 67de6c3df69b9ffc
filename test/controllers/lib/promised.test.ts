import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../../../src/api/volume.ts';
import {
  fileDirectories,
  isOverpromised,
  promisedInDirectory,
  promisedInPool,
} from '../../../src/controllers/lib/capacity/promised.ts';
import { GIB, volume } from '../provisioner/claim-input.ts';

const HOME = '/var/lib/metalk8s/storage/sparse';
const POOL = { vgName: 'vg0', thinPool: 'pool' };

const volumeOf = (uid: string, spec: Partial<Volume['spec']>): Volume => {
  const { metadata, spec: rest } = volume();
  const { sparseLoopDevice: _, ...others } = rest;
  return {
    ...volume(),
    metadata: { ...metadata, name: uid, uid },
    spec: { ...others, ...spec },
  };
};
const file = (uid: string, size: string, directory?: string, more: Partial<Volume['spec']> = {}) =>
  volumeOf(uid, { sparseLoopDevice: { size, ...(directory && { directory }) }, ...more });
const thin = (uid: string, size: string, thinPool = 'pool') =>
  volumeOf(uid, { lvmLogicalVolume: { vgName: 'vg0', thinPool, size } });

describe('the space promised in a directory', () => {
  const facts = (allocated: Record<string, bigint> = {}, beside: string[] = [HOME]) => ({
    ...{ freeBytes: 5n * GIB, floorBytes: GIB, sizeBytes: 20n * GIB },
    allocated: new Map(Object.entries(allocated)),
    beside: new Set(beside),
  });
  test.each<[string, bigint, Parameters<typeof promisedInDirectory>]>([
    ['is none without volumes', 0n, [facts(), []]],
    ['is the size of a new file', 2n * GIB, [facts(), [file('a', '2Gi')]]],
    ['excludes allocated blocks', GIB, [facts({ [`${HOME}/a`]: GIB }), [file('a', '2Gi')]]],
    [
      'excludes blocks of a partial file',
      GIB,
      [facts({ [`${HOME}/a.partial`]: GIB }), [file('a', '2Gi')]],
    ],
    [
      'excludes blocks of a copy, which may be shared',
      GIB,
      [
        facts({ [`${HOME}/a`]: GIB }),
        [file('a', '2Gi', undefined, { source: { snapshotContentName: 's' } })],
      ],
    ],
    [
      'is not reduced by a file larger than its size',
      2n * GIB,
      [facts({ [`${HOME}/a`]: 3n * GIB }), [file('a', '2Gi'), file('b', '2Gi')]],
    ],
    [
      'includes other directories of the file system',
      3n * GIB,
      [facts({}, [HOME, '/b']), [file('a', '2Gi'), file('b', '1Gi', '/b')]],
    ],
    [
      'excludes other file systems',
      2n * GIB,
      [facts(), [file('a', '2Gi'), file('b', '1Gi', '/b')]],
    ],
    ['excludes other kinds', 0n, [facts(), [thin('a', '2Gi')]]],
    ['is none for an invalid size', 0n, [facts(), [file('a', 'lots')]]],
  ])('%s', (_, promisedBytes, args) => {
    expect(promisedInDirectory(...args)).toEqual({ promisedBytes, existingBytes: 5n * GIB });
  });
});

describe('the space promised in a thin pool', () => {
  const facts = (made: Record<string, bigint> = {}) => ({
    sizeBytes: 4n * GIB,
    promisedBytes: Object.values(made).reduce((sum, size) => sum + size, 0n),
    made: new Map(Object.entries(made)),
  });
  test.each<[string, bigint, Parameters<typeof promisedInPool>]>([
    ['is none without volumes', 0n, [facts(), POOL, []]],
    ['includes volumes that are not created yet', 2n * GIB, [facts(), POOL, [thin('a', '2Gi')]]],
    ['counts each volume once', 2n * GIB, [facts({ a: 2n * GIB }), POOL, [thin('a', '2Gi')]]],
    ['includes expansions', 3n * GIB, [facts({ a: 2n * GIB }), POOL, [thin('a', '3Gi')]]],
    ['includes foreign volumes', 5n * GIB, [facts({ x: 3n * GIB }), POOL, [thin('a', '2Gi')]]],
    ['excludes other pools', 0n, [facts(), POOL, [thin('a', '2Gi', 'other')]]],
  ])('%s', (_, promisedBytes, args) => {
    expect(promisedInPool(...args)).toEqual({ promisedBytes, existingBytes: 4n * GIB });
  });
});

test.each([
  [4n, 5n, false],
  [5n, 5n, false],
  [6n, 5n, true],
])('%s promised of %s is overpromised: %s', (promisedBytes, existingBytes, expected) => {
  expect(isOverpromised({ promisedBytes, existingBytes })).toBe(expected);
});

test('directories of files are valid, and each is listed once', () => {
  const all = [file('a', '1Gi'), file('b', '1Gi'), file('c', '1Gi', '/b'), thin('d', '1Gi')];
  const invalid = [file('e', '1Gi', 'b'), file('f', '1Gi', '/b/../etc'), file('g', '1Gi', '/\n')];
  expect(fileDirectories([...all, ...invalid])).toEqual([HOME, '/b']);
});
