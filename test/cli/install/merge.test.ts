import { describe, expect, test } from '@jest/globals';
import { merged, mergePatch } from '../../../src/cli/install/merge.ts';

describe('merged', () => {
  test.each<[string, unknown, unknown, unknown, unknown]>([
    ['adds missing fields', {}, { a: { b: 1 } }, undefined, { a: { b: 1 } }],
    [
      'keeps fields of others',
      { a: { x: 1, b: 0 } },
      { a: { b: 2 } },
      undefined,
      { a: { x: 1, b: 2 } },
    ],
    [
      'removes fields that are no longer wanted',
      { a: { x: 1, b: 0 }, c: 3 },
      { a: {} },
      { a: { b: 5 }, c: 3 },
      { a: { x: 1 } },
    ],
    ['removes a map that is no longer wanted', { m: { b: 0 } }, {}, { m: { b: 0 } }, {}],
    [
      'keeps fields of others in such a map',
      { m: { b: 0, x: 1 } },
      {},
      { m: { b: 0 } },
      { m: { x: 1 } },
    ],
    ['does not restore a removed map', {}, {}, { m: { b: 0 } }, {}],
    [
      'merges list elements by name',
      {
        l: [
          { name: 'theirs', v: 1 },
          { name: 'ours', v: 1, set: 'by the server' },
        ],
      },
      { l: [{ name: 'ours', v: 2 }, { name: 'new' }] },
      undefined,
      {
        l: [
          { name: 'theirs', v: 1 },
          { name: 'ours', v: 2, set: 'by the server' },
          { name: 'new' },
        ],
      },
    ],
    [
      'removes an element that is no longer wanted',
      { l: [{ name: 'theirs' }, { name: 'old' }, { name: 'ours' }] },
      { l: [{ name: 'ours' }] },
      { l: [{ name: 'old' }, { name: 'ours' }] },
      { l: [{ name: 'theirs' }, { name: 'ours' }] },
    ],
    ['replaces other lists', { l: ['a', 'b'] }, { l: ['c'] }, undefined, { l: ['c'] }],
    [
      'replaces lists of objects without names',
      { l: [{ verbs: ['*'] }] },
      { l: [{ verbs: [] }] },
      undefined,
      { l: [{ verbs: [] }] },
    ],
    [
      'replaces lists with duplicate names',
      { l: [{ name: 'a' }, { name: 'a' }] },
      { l: [{ name: 'a', v: 1 }] },
      undefined,
      { l: [{ name: 'a', v: 1 }] },
    ],
    [
      'replaces a value of another type',
      { a: 'text' },
      { a: { b: 1 } },
      undefined,
      { a: { b: 1 } },
    ],
  ])('%s', (_, current, wanted, last, result) => {
    expect(merged(current, wanted, last)).toEqual(result);
  });
});

test.each<[object, object, object | undefined]>([
  [{ a: 1 }, { a: 1 }, undefined],
  [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, { a: { c: null } }],
  [{ a: { b: 1 } }, { a: { b: 2 }, d: [1] }, { a: { b: 2 }, d: [1] }],
  [{ l: [1, 2] }, { l: [2] }, { l: [2] }],
  [{ a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
])('mergePatch returns the patch from %j to %j', (from, to, patch) => {
  expect(mergePatch(from, to)).toEqual(patch);
});
