import { readFileSync } from 'node:fs';
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

test('each invariant of docs/design.md is broken by at least three mutations', () => {
  const [, part = ''] = readFileSync('docs/design.md', 'utf8').split('## Invariants\n');
  const invariants = [...(part.split('\n## ')[0] ?? '').matchAll(/^(\d+)\. /gm)].map(([, number]) =>
    Number(number),
  );
  const broken = MUTATIONS.map(({ invariant }) => invariant);
  expect(broken.filter((number) => !invariants.includes(number))).toEqual([]);
  const rare = invariants.filter(
    (invariant) => broken.filter((number) => number === invariant).length < 3,
  );
  expect(rare).toEqual([]);
});
