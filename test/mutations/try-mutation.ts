import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { applyMutation } from './apply.ts';
import type { Mutation } from './mutation.ts';
import { type LimitedOutcome, runRelatedTests, runTestFile } from './run-tests.ts';
import type { WorkingCopy } from './working-copy.ts';

/**
 * The verdict on a mutation. An error means that the table is wrong, or that the tests fail without
 * the mutation.
 */
export type Verdict =
  | { is: 'killed'; by: string; test: string }
  | { is: 'killed'; by: string; test?: never; late: true }
  | { is: 'survived' }
  /** No unit test failed: the integration tests have not run yet. */
  | { is: 'pending' }
  | { is: 'error'; message: string };

export interface TryDeps {
  copy: WorkingCopy;
  signal: AbortSignal;
  /** Runs only this test file, to find out what it detects alone. */
  test?: string | undefined;
  /** Outcomes of test files without a mutation, by name. All working copies share them. */
  controls: Map<string, Promise<LimitedOutcome>>;
}

type Tests = (mutation: Mutation, deps: TryDeps) => Promise<LimitedOutcome>;

/**
 * Runs the unit tests that reach the mutated file. If the mutation names integration tests, runs
 * only the near unit tests. All unit tests take a minute, and by the table the others do not detect
 * it.
 */
export async function tryUnitTests(mutation: Mutation, deps: TryDeps): Promise<Verdict> {
  const { test } = deps;
  if (test !== undefined)
    return tryTests(mutation, deps, () => runTestFile(deps.copy, test, deps.signal));
  const later = mutation.integration !== undefined;
  const verdict = await tryTests(mutation, deps, ({ file }) =>
    runRelatedTests(deps.copy, file, later, deps.signal),
  );
  return verdict.is === 'survived' && later ? { is: 'pending' } : verdict;
}

/**
 * Runs the integration tests that the mutation names, one at a time, as they share the machine's
 * devices.
 */
export function tryIntegrationTests(mutation: Mutation, deps: TryDeps): Promise<Verdict> {
  return tryTests(mutation, deps, runIntegrationTests);
}

/** Applies a mutation to the working copy, runs tests, and restores the copy. */
async function tryTests(mutation: Mutation, deps: TryDeps, run: Tests): Promise<Verdict> {
  const { copy } = deps;
  const { file } = mutation;
  const original = await readFile(file, 'utf8');
  const mutated = applyMutation(mutation, original);
  const problem = file.endsWith('.py') ? await pythonProblem(mutated) : undefined;
  if (problem !== undefined) return { is: 'error', message: problem };
  await copy.write(file, mutated);
  let outcome: LimitedOutcome;
  try {
    outcome = await run(mutation, deps);
  } finally {
    await copy.write(file, original);
  }
  return judge(outcome, {
    control: (file) => controlOf(file, deps),
    again: () => run(mutation, deps),
  });
}

async function runIntegrationTests(
  { integration = [] }: Mutation,
  { copy, signal }: TryDeps,
): Promise<LimitedOutcome> {
  await copy.build();
  try {
    for (const name of integration) {
      const outcome = await runTestFile(copy, `test/integration/${name}`, signal);
      if (outcome.is !== 'passed') return outcome;
    }
    return { is: 'passed' };
  } finally {
    await copy.restoreBuild();
  }
}

/** Runs without the mutation, to confirm a verdict. */
interface Controls {
  /** Runs one test file. */
  control(file: string): Promise<LimitedOutcome>;
  /** Runs the same tests again, with the same time limit. */
  again(): Promise<LimitedOutcome>;
}

/**
 * Returns the verdict of an outcome. A failure or a timeout counts only if the tests pass without
 * the mutation.
 */
export async function judge(
  outcome: LimitedOutcome,
  { control, again }: Controls,
): Promise<Verdict> {
  switch (outcome.is) {
    case 'passed':
      return { is: 'survived' };
    case 'late': {
      // A slow machine is no proof.
      if ((await again()).is === 'passed') return { is: 'killed', by: outcome.file, late: true };
      return {
        is: 'error',
        message: `${outcome.file} does not pass in time without a mutation, either`,
      };
    }
    case 'not-loaded':
      return { is: 'error', message: `${outcome.file} does not load: ${outcome.message}` };
    case 'failed': {
      if ((await control(outcome.file)).is === 'passed') {
        return { is: 'killed', by: outcome.file, test: outcome.test };
      }
      return { is: 'error', message: `${outcome.file} fails without a mutation, too` };
    }
  }
}

/** Runs a test file without a mutation, once for each file. */
function controlOf(file: string, { copy, signal, controls }: TryDeps): Promise<LimitedOutcome> {
  const control = controls.get(file) ?? runTestFile(copy, file, signal);
  controls.set(file, control);
  return control;
}

/** Returns an error message if a text is not Python, or undefined. */
async function pythonProblem(text: string): Promise<string | undefined> {
  const parse = ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'];
  const { failed, stderr } = await execa('python3', parse, { input: text, reject: false });
  return failed ? `the outcome is not Python: ${stderr.trim()}` : undefined;
}
