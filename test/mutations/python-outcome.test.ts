import { expect, test } from '@jest/globals';
import type { TestOutcome } from './outcome-reporter.ts';
import { pythonOutcome } from './python-outcome.ts';

test.each<[string, string, number, TestOutcome]>([
  ['all passed', '....\nRan 4 tests in 0.1s\n\nOK\n', 0, { is: 'passed' }],
  [
    'one failed',
    '.F\n======\nFAIL: test_lock (test_jobs.Locks.test_lock)\n------\nTraceback…\nAssertionError: 1 != 2\n',
    1,
    { is: 'failed', file: 'test/salt/test_jobs.py', test: 'test_lock' },
  ],
  [
    'a module does not load',
    'E\n======\nERROR: test_jobs (unittest.loader._FailedTest.test_jobs)\n------\nTraceback…\nNameError: name x\n',
    1,
    { is: 'not-loaded', file: 'test/salt/test_jobs.py', message: 'NameError: name x' },
  ],
  [
    'there is no Python',
    'no such program',
    127,
    { is: 'not-loaded', file: 'test/salt', message: 'no such program' },
  ],
])('pythonOutcome: %s', (_, stderr, exitCode, outcome) => {
  expect(pythonOutcome(stderr, exitCode, 'test/salt')).toEqual(outcome);
});
