import { expect, test } from '@jest/globals';
import { type JestResults, outcomeOf, type TestOutcome } from './outcome-reporter.ts';

type Suite = JestResults['testResults'][number];

const passed: Suite = {
  testFilePath: '/c/test/a.test.ts',
  testResults: [{ status: 'passed', fullName: 'a' }],
};
const failed: Suite = {
  testFilePath: '/c/test/b.test.ts',
  testResults: [
    { status: 'passed', fullName: 'b' },
    { status: 'failed', fullName: 'c' },
  ],
};
const unloaded: Suite = {
  testFilePath: '/c/test/d.test.ts',
  testExecError: { message: 'x' },
  failureMessage: 'x is not defined',
  testResults: [],
};

test.each<[string, Suite[], TestOutcome]>([
  ['all passed', [passed], { is: 'passed' }],
  ['one failed', [passed, failed], { is: 'failed', file: 'test/b.test.ts', test: 'c' }],
  [
    'a file does not load, which proves nothing whatever else fails',
    [failed, unloaded],
    { is: 'not-loaded', file: 'test/d.test.ts', message: 'x is not defined' },
  ],
])('outcomeOf: %s', (_, testResults, outcome) => {
  expect(outcomeOf({ testResults }, '/c')).toEqual(outcome);
});
