import { expect, test } from '@jest/globals';
import { checkAnchors } from './anchors.ts';
import { MUTATIONS } from './mutations.ts';

test('every mutation fits the code', async () => {
  expect(await checkAnchors(MUTATIONS)).toEqual([]);
});

test('no two mutations have the same id', () => {
  const ids = MUTATIONS.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('each invariant is broken by at least three mutations', () => {
  const counts = Array.from(
    { length: 12 },
    (_, at) => MUTATIONS.filter(({ invariant }) => invariant === at + 1).length,
  );
  expect(counts.filter((count) => count < 3)).toEqual([]);
});
