import { expect, test } from '@jest/globals';
import type { LimitedOutcome } from './run-tests.ts';
import { judge } from './try-mutation.ts';

const PASSED: LimitedOutcome = { is: 'passed' };
const FAILED: LimitedOutcome = { is: 'failed', file: 'a.test.ts', test: 'works' };
const LATE: LimitedOutcome = { is: 'late', file: 'unit tests' };

test.each<[name: string, outcome: LimitedOutcome, without: LimitedOutcome, verdict: object]>([
  ['a pass survives', PASSED, PASSED, { is: 'survived' }],
  ['a failure kills', FAILED, PASSED, { is: 'killed', by: 'a.test.ts', test: 'works' }],
  ['a failure without the mutation proves nothing', FAILED, FAILED, { is: 'error' }],
  ['a control that is late proves nothing', FAILED, LATE, { is: 'error' }],
  ['tests that do not end kill', LATE, PASSED, { is: 'killed', by: 'unit tests', late: true }],
  ['a slow machine kills nothing', LATE, LATE, { is: 'error' }],
  [
    'tests that do not end and fail without the mutation prove nothing',
    LATE,
    FAILED,
    { is: 'error' },
  ],
])('judge: %s', async (_name, outcome, without, verdict) => {
  const never = () => Promise.reject(new Error('another control runs'));
  const [control, again] =
    outcome.is === 'late' ? [never, async () => without] : [async () => without, never];
  expect(await judge(outcome, { control, again })).toMatchObject(verdict);
});
