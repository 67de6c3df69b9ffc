import { expect, test } from '@jest/globals';
import { isDnsSubdomain } from '../../src/api/dns-name.ts';

test.each(['a', '1', 'a-b', 'a.b', '0.0.0.0', 'a'.repeat(253)])('%p is a valid name', (name) => {
  expect(isDnsSubdomain(name)).toBe(true);
});

test.each([
  '',
  'A',
  '.',
  '.a',
  'a.',
  'a..b',
  '-',
  'a-',
  'a.-b',
  'é',
  'a\n',
  'a/b',
  'a%2fb',
  'a'.repeat(254),
])('%j is not a valid name', (name) => {
  expect(isDnsSubdomain(name)).toBe(false);
});
