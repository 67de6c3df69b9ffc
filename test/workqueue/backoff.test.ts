import { expect, test } from '@jest/globals';
import { backoffMs } from '../../src/workqueue/backoff.ts';

const range = { startMs: 1000, maxMs: 300_000 };

test.each([
  [0, 0, 1000],
  [1, 0, 2000],
  [2, 0.5, 3600],
  [8, 0, 256_000],
  [9, 0, 300_000],
  [5000, 0, 300_000],
  [5000, 1, 240_000],
])('attempt %i with jitter %d waits %i ms', (attempt, random, ms) => {
  expect(backoffMs(attempt, random, range)).toBe(ms);
});
