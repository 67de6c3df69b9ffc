import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Fields } from '../../../src/sandbox/json.ts';
import { mergePatch } from '../../../src/sandbox/objects/patch.ts';
import { strategicMerge } from '../../../src/sandbox/strategic/merge.ts';
import { shapeOf } from '../../../src/sandbox/strategic/shape.ts';
import { TEST_SEED } from '../../support/test-seed.ts';

const pod = {
  metadata: { name: 'p', finalizers: ['a/a', 'b/b'] },
  spec: {
    containers: [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'y', env: [{ name: 'k', value: '1' }] },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
    tolerations: [{ key: 't' }],
    dnsConfig: { options: [{ name: 'o' }] },
  },
};
const patched = (spec: object, kind = 'Pod') =>
  strategicMerge(pod, { spec }, shapeOf(kind)).spec as Fields;
const patchedMetadata = (metadata: object) =>
  strategicMerge(pod, { metadata }, shapeOf('Pod')).metadata as Fields;

/** Results of `kubectl patch --local` for the same input. */
test.each<[string, string, object, unknown]>([
  [
    'merges by key, with patched items first',
    'containers',
    { containers: [{ name: 'b', env: [{ name: 'q', value: '2' }] }] },
    [
      { name: 'a', image: 'x' },
      {
        name: 'b',
        image: 'y',
        env: [
          { name: 'q', value: '2' },
          { name: 'k', value: '1' },
        ],
      },
    ],
  ],
  [
    'applies $setElementOrder',
    'containers',
    {
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }],
      containers: [{ name: 'c', image: 'z' }],
    },
    [{ name: 'c', image: 'z' }, { name: 'a', image: 'x' }, pod.spec.containers[1]],
  ],
  [
    'puts new items before the others',
    'containers',
    { '$setElementOrder/containers': [{ name: 'z' }], containers: [{ name: 'z' }] },
    [{ name: 'z' }, ...pod.spec.containers],
  ],
  [
    'puts a new item in the place of a deleted one, like a Go slice that is changed in place',
    'containers',
    {
      '$setElementOrder/containers': [{ name: 'z' }],
      containers: [{ name: 'z' }, { name: 'a', $patch: 'delete' }],
    },
    [pod.spec.containers[1], { name: 'z' }],
  ],
  [
    'deletes from a list',
    'containers',
    { containers: [{ name: 'b', $patch: 'delete' }] },
    [{ name: 'a', image: 'x' }],
  ],
  [
    'replaces a list',
    'containers',
    { containers: [{ name: 'z' }, { $patch: 'replace' }] },
    [{ name: 'z' }],
  ],
  [
    'retains keys',
    'volumes',
    { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] },
    [{ name: 'v', hostPath: { path: '/x' } }],
  ],
  ['replaces lists without a key', 'tolerations', { tolerations: [{ key: 'u' }] }, [{ key: 'u' }]],
  [
    'replaces an object',
    'dnsConfig',
    { dnsConfig: { $patch: 'replace', searches: ['s'] } },
    { searches: ['s'] },
  ],
  ['empties an object', 'dnsConfig', { dnsConfig: { $patch: 'delete' } }, {}],
  ['removes by null', 'dnsConfig', { dnsConfig: null }, undefined],
  [
    'adds without nulls and directives',
    'affinity',
    { affinity: { a: null, b: { $patch: 'delete' } } },
    {},
  ],
])('%s', (_, field, patch, expected) => expect(patched(patch)[field]).toEqual(expected));

test('merges and deletes finalizers', () => {
  expect(patchedMetadata({ finalizers: ['c/c'] }).finalizers).toEqual(['c/c', 'a/a', 'b/b']);
  expect(patchedMetadata({ '$deleteFromPrimitiveList/finalizers': ['a/a'] }).finalizers).toEqual([
    'b/b',
  ]);
});

test.each<[string, object]>([
  ['an item without its key', { containers: [{ image: 'z' }] }],
  ['an item that is no object', { containers: ['z'] }],
  ['an unknown $patch', { dnsConfig: { $patch: 'append' } }],
  ['an unknown directive', { $foo: 1 }],
  ['keys that are not retained', { dnsConfig: { $retainKeys: ['searches'], options: [] } }],
  [
    'an order that the patch breaks',
    { '$setElementOrder/containers': [{ name: 'b' }], containers: [{ name: 'c' }] },
  ],
  ['deletion from a list that is replaced', { '$deleteFromPrimitiveList/tolerations': ['x'] }],
  ['a directive in a list that is replaced', { tolerations: [{ key: 't', $patch: 'delete' }] }],
])('refuses %s', (_, patch) =>
  expect(() => patched(patch)).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 400 }) }),
  ),
);

test('changes neither the object nor the patch', () => {
  const before = JSON.stringify(pod);
  const patch = Object.freeze({
    containers: Object.freeze([{ name: 'b', image: 'q', $retainKeys: ['name', 'image'] }]),
  });
  patched(patch);
  expect([JSON.stringify(pod), patch.containers[0]?.$retainKeys]).toEqual([
    before,
    ['name', 'image'],
  ]);
});

describe('a patch without lists of objects', () => {
  const field = fc.constantFrom('a', 'b', 'c');
  const { tree } = fc.letrec<{ tree: Fields }>((tie) => ({
    tree: fc.dictionary(
      field,
      fc.oneof(
        { depthSize: 'small' },
        fc.integer(),
        fc.constant(null),
        fc.array(fc.integer(), { maxLength: 3 }),
        tie('tree'),
      ),
      { maxKeys: 3 },
    ),
  }));

  test('equals a JSON merge patch', () =>
    fc.assert(
      fc.property(tree, tree, (object, patch) => {
        // Stored objects have no nulls.
        const original = mergePatch({}, object) as Fields;
        expect(strategicMerge(original, patch)).toEqual(mergePatch(original, patch));
      }),
      { seed: TEST_SEED },
    ));
});
