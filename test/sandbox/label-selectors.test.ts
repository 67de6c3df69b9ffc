import { expect, test } from '@jest/globals';
import type { StoredObject } from '../../src/sandbox/kind.ts';
import { labelMatcher } from '../../src/sandbox/selectors.ts';

const labelled = { metadata: { name: 'a', labels: { k: '30', text: 'x' } } } as unknown as StoredObject;

test.each([
  ['k>28', true],
  ['k > 30', false],
  ['k<31', true],
  ['k<9,k', false],
  ['text>1', false],
  ['nope>1', false],
  ['k in(30)', true],
  ['text in (x,)', true],
])('%j matches: %j', (selector, expected) => expect(labelMatcher(selector)(labelled)).toBe(expected));

test.each([
  'é=1',
  'a=é',
  'a\u0007=1',
  'a=b\u001b',
  'é',
  '!é',
  'é in (a)',
  'a in (é)',
  '-a=1',
  'k>x',
  'k>',
  'k>1>2',
  'a,',
  'a=b,',
])('%j is no selector', (selector) =>
  expect(() => labelMatcher(selector)).toThrow(/unable to parse requirement: |expected: /),
);
