import { expect, test } from '@jest/globals';
import { parseDuration } from '../../src/api/duration.ts';

test.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5s', 1500],
  ['250ms', 250],
  ['0s', 0],
  ['', undefined],
  ['10', undefined],
  ['-1s', undefined],
  ['1d', undefined],
  [' 1s', undefined],
  ['1s\n', undefined],
  [`${'1s'.repeat(32)}`, 32_000],
  [`${'1s'.repeat(33)}`, undefined],
])('parseDuration(%j) returns %p', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
