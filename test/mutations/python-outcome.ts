import type { TestOutcome } from './outcome-reporter.ts';

/**
 * Returns the outcome of a run of Python's unittest from its output on standard error.
 * @param folder directory of the tests
 */
export function pythonOutcome(
  stderr: string,
  exitCode: number | undefined,
  folder: string,
): TestOutcome {
  const [, test = '', place = ''] = /^(?:FAIL|ERROR): (\S+) \(([^)]*)\)$/m.exec(stderr) ?? [];
  // A module that cannot be imported is reported as a test of this name.
  if (place.startsWith('unittest.loader')) {
    return { is: 'not-loaded', file: `${folder}/${test}.py`, message: lastLine(stderr) };
  }
  if (test !== '') return { is: 'failed', file: `${folder}/${place.split('.')[0]}.py`, test };
  if (exitCode === 0) return { is: 'passed' };
  return { is: 'not-loaded', file: folder, message: lastLine(stderr) };
}

/** Returns the line that names the error, usually the last line of a traceback. */
const lastLine = (text: string): string =>
  /^\w*(?:Error|Exception)\b.*$/m.exec(text)?.[0] ?? text.trim().slice(-200);
