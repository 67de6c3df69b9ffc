import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** The result of a run of jest: its first failing test, or a test file that does not load. */
export type TestOutcome =
  | { is: 'passed' }
  | { is: 'failed'; file: string; test: string }
  /** No test of the file ran: the file, or one of its imports, throws when it is loaded. */
  | { is: 'not-loaded'; file: string; message: string };

/** The part of jest's results for reporters that this file reads. */
export interface JestResults {
  testResults: readonly {
    testFilePath: string;
    testExecError?: unknown;
    failureMessage?: string | null;
    testResults: readonly { status: string; fullName: string }[];
  }[];
}

/** Environment variable with the file to which the outcome is written as JSON. */
export const OUTCOME_FILE = 'STOWAGE_TEST_OUTCOME';

/** A reporter of jest that writes the outcome of a run to a file. */
export default class OutcomeReporter {
  onRunComplete(_contexts: unknown, results: JestResults): void {
    writeFileSync(
      process.env[OUTCOME_FILE] as string,
      JSON.stringify(outcomeOf(results, process.cwd())),
    );
  }
}

/**
 * Returns the outcome of jest's results. A file that does not load has precedence: failures beside
 * it prove nothing.
 * @param root the checkout that jest ran in
 */
export function outcomeOf({ testResults }: JestResults, root: string): TestOutcome {
  for (const { testFilePath, testExecError, failureMessage } of testResults) {
    if (testExecError == null) continue;
    return { is: 'not-loaded', file: relative(root, testFilePath), message: failureMessage ?? '' };
  }
  for (const { testFilePath, testResults: tests } of testResults) {
    const failed = tests.find(({ status }) => status === 'failed');
    if (failed !== undefined) {
      return { is: 'failed', file: relative(root, testFilePath), test: failed.fullName };
    }
  }
  return { is: 'passed' };
}
