import { expect, test } from '@jest/globals';
import { withHint } from '../../src/nodes/job-text.ts';

test.each([
  ['a clause', 'it failed', 'Retry.', 'it failed. Retry.'],
  ['a sentence', 'it failed. Check it.', 'Retry.', 'it failed. Check it. Retry.'],
  ['a clause, if there is no hint', 'it failed', '', 'it failed'],
])('a hint follows %s', (_, message, hint, text) => {
  expect(withHint(message, hint)).toBe(text);
});
