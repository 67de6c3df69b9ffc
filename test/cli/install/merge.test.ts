import { describe, expect, test } from '@jest/globals';
import { merged, mergePatch } from '../../../src/cli/install/merge.ts';

describe('merged', () => {
  test.each<[string, unknown, unknown, unknown, unknown]>([
    ['what is not there is added', {}, { a: { b: 1 } }, undefined, { a: { b: 1 } }],
    [
      'what others set stays',
      { a: { x: 1, b: 0 } },
      { a: { b: 2 } },
      undefined,
      { a: { x: 1, b: 2 } },
    ],
    [
      'what is not wanted any more goes',
      { a: { x: 1, b: 0 }, c: 3 },
      { a: {} },
      { a: { b: 5 }, c: 3 },
      { a: { x: 1 } },
    ],
    ['a map that is not wanted any more goes', { m: { b: 0 } }, {}, { m: { b: 0 } }, {}],
    ['but for what others put in it', { m: { b: 0, x: 1 } }, {}, { m: { b: 0 } }, { m: { x: 1 } }],
    ['what is gone already stays gone', {}, {}, { m: { b: 0 } }, {}],
    [
      'elements are told apart by name',
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
      'an element that is not wanted any more goes',
      { l: [{ name: 'theirs' }, { name: 'old' }, { name: 'ours' }] },
      { l: [{ name: 'ours' }] },
      { l: [{ name: 'old' }, { name: 'ours' }] },
      { l: [{ name: 'theirs' }, { name: 'ours' }] },
    ],
    ['other lists are as wanted', { l: ['a', 'b'] }, { l: ['c'] }, undefined, { l: ['c'] }],
    [
      'also of objects without names',
      { l: [{ verbs: ['*'] }] },
      { l: [{ verbs: [] }] },
      undefined,
      { l: [{ verbs: [] }] },
    ],
    [
      'names that are not unique tell nothing',
      { l: [{ name: 'a' }, { name: 'a' }] },
      { l: [{ name: 'a', v: 1 }] },
      undefined,
      { l: [{ name: 'a', v: 1 }] },
    ],
    ['another type is replaced', { a: 'text' }, { a: { b: 1 } }, undefined, { a: { b: 1 } }],
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
