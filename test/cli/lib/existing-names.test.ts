import { expect, test } from '@jest/globals';
import { existingNames } from '../../../src/cli/lib/existing-names.ts';

test.each<[string[], string]>([
  [[], ''],
  [['local', 'fast'], 'existing: fast, local'],
  [['g', 'f', 'e', 'd', 'c', 'b', 'a'], 'existing: a, b, c, d, e and 2 more'],
])('existing names of %j', (names, expected) => {
  expect(existingNames(names)).toBe(expected);
});
