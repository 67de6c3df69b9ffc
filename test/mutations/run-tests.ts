import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runLimited } from './limited-process.ts';
import { CHANGED_FILE, NEAR_ONLY } from './nearness.ts';
import { OUTCOME_FILE, type TestOutcome } from './outcome-reporter.ts';
import type { WorkingCopy } from './working-copy.ts';

/** The outcome of tests that may also not end in time. */
export type LimitedOutcome = TestOutcome | { is: 'late'; file: string };

/** Time limits in ms: of all unit tests that reach a file, and of one integration test file. */
const UNIT_LIMIT = 5 * 60_000;
const INTEGRATION_LIMIT = 6 * 60_000;

/**
 * Runs the unit tests that reach a file, nearest first, up to the first failure.
 * @param nearOnly as NEAR_ONLY
 */
export function runRelatedTests(
  copy: WorkingCopy,
  file: string,
  nearOnly: boolean,
  signal: AbortSignal,
): Promise<LimitedOutcome> {
  const order = ['--testSequencer', join(copy.path, 'test/mutations/nearness.ts')];
  const args = ['--bail', '--passWithNoTests', ...order, '--findRelatedTests', file];
  const env = { [CHANGED_FILE]: file, [NEAR_ONLY]: nearOnly ? 'yes' : '' };
  return run(copy, { name: 'unit tests', command: unit(copy, args), limit: UNIT_LIMIT, env }, signal);
}

/**
 * Runs one test file up to its end: an integration test on a node of its own, as `npm test` does.
 * @param file relative to the checkout
 */
export function runTestFile(copy: WorkingCopy, file: string, signal: AbortSignal): Promise<LimitedOutcome> {
  if (!file.startsWith('test/integration/')) {
    return run(
      copy,
      { name: file, command: unit(copy, ['--runTestsByPath', file]), limit: UNIT_LIMIT },
      signal,
    );
  }
  const pattern = `${file.replaceAll('.', '\\.')}$`;
  const args = ['--testPathPatterns', pattern, '--reporters', reporter(copy)];
  const command = ['node', 'test/at-once.ts', 'integration', ...args];
  return run(copy, { name: file, command, limit: INTEGRATION_LIMIT }, signal);
}

const reporter = (copy: WorkingCopy): string => join(copy.path, 'test/mutations/outcome-reporter.ts');

function unit(copy: WorkingCopy, args: readonly string[]): string[] {
  const files = ['--cacheDirectory', join(copy.cache, 'jest'), '--reporters', reporter(copy)];
  return ['jest', '--selectProjects', 'unit', '--runInBand', '--forceExit', ...files, ...args];
}

interface Run {
  name: string;
  command: readonly string[];
  /** ms */
  limit: number;
  env?: Record<string, string>;
}

async function run(copy: WorkingCopy, { name, command, limit, env = {} }: Run, signal: AbortSignal) {
  const path = join(copy.cache, 'outcome.json');
  await rm(path, { force: true });
  const [program = '', ...args] = command;
  const isLate = await runLimited(program, args, {
    cwd: copy.path,
    env: { ...env, [OUTCOME_FILE]: path },
    limit,
    signal,
  });
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const outcome = text === undefined ? undefined : (JSON.parse(text) as TestOutcome);
  // All that was to run has, where there is an outcome: what did not end after that is no test.
  if (outcome !== undefined) return outcome;
  if (isLate) return { is: 'late', file: name } as const;
  return { is: 'not-loaded', file: name, message: `no outcome of: ${command.join(' ')}` } as const;
}
