import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readersOf } from '../lanes/unit-tests.ts';
import { runLimited } from './limited-process.ts';
import { CHANGED_FILE, NEAR_ONLY } from './nearness.ts';
import { OUTCOME_FILE, type TestOutcome } from './outcome-reporter.ts';
import { pythonOutcome } from './python-outcome.ts';
import type { WorkingCopy } from './working-copy.ts';

/** The outcome of tests, which may also exceed their time limit. */
export type LimitedOutcome = TestOutcome | { is: 'late'; file: string };

/** Time limits in ms: of all unit tests that reach a file, and of one integration test file. */
const UNIT_LIMIT = 5 * 60_000;
const INTEGRATION_LIMIT = 6 * 60_000;

/** Directory of the tests of the Salt modules. */
const PYTHON_TESTS = 'test/salt';

/**
 * Runs the unit tests that reach a file, nearest first, up to the first failure.
 * @param nearOnly sets NEAR_ONLY
 */
export async function runRelatedTests(
  copy: WorkingCopy,
  file: string,
  nearOnly: boolean,
  signal: AbortSignal,
): Promise<LimitedOutcome> {
  if (file.endsWith('.py')) {
    const near = await runPython(copy, `test_${basename(file, '.py')}*.py`, signal);
    return near.is === 'passed' ? runPython(copy, 'test_*.py', signal) : near;
  }
  const order = ['--testSequencer', join(copy.path, 'test/mutations/nearness.ts')];
  // Jest only knows the importers of TypeScript files.
  const files = file.endsWith('.ts') ? [file] : await readersOf(file);
  const args = ['--bail', '--passWithNoTests', ...order, '--findRelatedTests', ...files];
  const env = { [CHANGED_FILE]: file, [NEAR_ONLY]: nearOnly ? 'yes' : '' };
  return runJest(
    copy,
    { name: 'unit tests', command: unit(copy, args), limit: UNIT_LIMIT, env },
    signal,
  );
}

/**
 * Runs one test file to its end. An integration test runs on a node of its own, as with `npm test`.
 * @param file path relative to the checkout
 */
export function runTestFile(
  copy: WorkingCopy,
  file: string,
  signal: AbortSignal,
): Promise<LimitedOutcome> {
  if (file.startsWith(`${PYTHON_TESTS}/`)) return runPython(copy, basename(file), signal);
  if (!file.startsWith('test/integration/')) {
    const command = unit(copy, ['--runTestsByPath', file]);
    return runJest(copy, { name: file, command, limit: UNIT_LIMIT }, signal);
  }
  const pattern = `${file.replaceAll('.', '\\.')}$`;
  const command = [
    'node',
    'test/lanes/run.ts',
    'integration',
    pattern,
    `--reporters=${reporter(copy)}`,
  ];
  return runJest(copy, { name: file, command, limit: INTEGRATION_LIMIT }, signal);
}

const reporter = (copy: WorkingCopy): string =>
  join(copy.path, 'test/mutations/outcome-reporter.ts');

function unit(copy: WorkingCopy, args: readonly string[]): string[] {
  const files = ['--cacheDirectory', join(copy.cache, 'jest'), '--reporters', reporter(copy)];
  return ['jest', '--selectProjects', 'unit', '--runInBand', '--forceExit', ...files, ...args];
}

interface JestRun {
  name: string;
  command: readonly string[];
  /** Time limit in ms. */
  limit: number;
  env?: Record<string, string>;
}

async function runJest(
  copy: WorkingCopy,
  { name, command, limit, env = {} }: JestRun,
  signal: AbortSignal,
): Promise<LimitedOutcome> {
  const path = join(copy.cache, 'outcome.json');
  await rm(path, { force: true });
  const modules = { NODE_OPTIONS: '--experimental-vm-modules', NODE_NO_WARNINGS: '1' };
  const how = { cwd: copy.path, env: { ...modules, ...env, [OUTCOME_FILE]: path }, limit, signal };
  const { isLate } = await runLimited(command, how);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  // An outcome means that every test has run, even if the process hangs afterwards.
  if (text !== undefined) return JSON.parse(text) as TestOutcome;
  if (isLate) return { is: 'late', file: name };
  return { is: 'not-loaded', file: name, message: `no outcome of: ${command.join(' ')}` };
}

async function runPython(
  copy: WorkingCopy,
  pattern: string,
  signal: AbortSignal,
): Promise<LimitedOutcome> {
  const discover = ['-m', 'unittest', 'discover', '--failfast', '-s', PYTHON_TESTS, '-p', pattern];
  const env = { PYTHONPATH: 'salt/_modules' };
  const how = { cwd: copy.path, env, limit: UNIT_LIMIT, signal };
  const { isLate, exitCode, stderr } = await runLimited(['python3', '-B', ...discover], how);
  if (isLate) return { is: 'late', file: PYTHON_TESTS };
  // Newer versions of Python have a separate exit status if no file matches the pattern.
  return /^Ran 0 tests/m.test(stderr)
    ? { is: 'passed' }
    : pythonOutcome(stderr, exitCode, PYTHON_TESTS);
}
