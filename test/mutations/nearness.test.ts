import { expect, test } from '@jest/globals';
import NearestFirst, { importsOf, nearness } from './nearness.ts';

test('importsOf reads relative imports', () => {
  const text = "import { a } from '../../src/nodes/job.ts';\nimport b from 'node:fs';\n";
  expect(importsOf('test/nodes/a.test.ts', text)).toEqual(['src/nodes/job.ts']);
});

test('tests that import the file rank first, then those of its directory', () => {
  const file = 'src/storage/block/provision.ts';
  const tests: [string, string[]][] = [
    ['test/cli/plan.test.ts', []],
    ['test/storage/signature.test.ts', []],
    ['test/storage/block/delete.test.ts', []],
    ['test/storage/block/provision.test.ts', []],
    ['test/storage/plan.test.ts', [file]],
  ];
  const ranks = tests.map(([path, imports]) => Number(nearness(path, imports, file).join('')));
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  expect(new Set(ranks).size).toBe(tests.length);
});

test('the sequencer sorts the test files of a checkout', () => {
  const context = { config: { rootDir: process.cwd() } };
  const paths = ['test/mutations/extent.test.ts', 'test/mutations/nearness.test.ts'];
  const tests = paths.map((path) => ({ path: `${process.cwd()}/${path}`, context }));
  expect(new NearestFirst().sort(tests, 'test/mutations/nearness.ts')).toEqual(tests.toReversed());
});
