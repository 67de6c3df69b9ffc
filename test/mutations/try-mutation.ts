import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { applyMutation } from './apply.ts';
import type { Mutation } from './mutation.ts';
import { type LimitedOutcome, runRelatedTests, runTestFile } from './run-tests.ts';
import type { WorkingCopy } from './working-copy.ts';

/** The verdict on a mutation. An error says that the table is wrong, or the tests are without it. */
export type Verdict =
  | { is: 'killed'; by: string; test: string }
  | { is: 'killed'; by: string; test?: never; late: true }
  | { is: 'survived' }
  /** No unit test fails: its integration tests are still to run. */
  | { is: 'pending' }
  | { is: 'error'; message: string };

export interface TryDeps {
  copy: WorkingCopy;
  signal: AbortSignal;
  /** Runs this test file alone: what it notices without the others. */
  test?: string | undefined;
  /** The outcome of test files without a mutation, by name: shared by all working copies. */
  controls: Map<string, Promise<LimitedOutcome>>;
}

type Tests = (mutation: Mutation, deps: TryDeps) => Promise<LimitedOutcome>;

/**
 * Runs the unit tests that reach the mutated file. Of a mutation that names integration tests only the near ones: the table says that
 * the others do not notice it, and all of them take a minute.
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

/** Runs the integration tests that the mutation names. They run one at a time: they share the devices of the machine. */
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

/** Runs without a mutation, on which a verdict depends. */
interface Controls {
  /** Runs one test file. */
  control(file: string): Promise<LimitedOutcome>;
  /** Runs the same tests again, with the same time limit. */
  again(): Promise<LimitedOutcome>;
}

/** Returns what an outcome means: a failure, or no end, counts only where the tests pass without the mutation. */
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

/** Shows once for each test file that it passes as long as nothing is mutated. */
function controlOf(file: string, { copy, signal, controls }: TryDeps): Promise<LimitedOutcome> {
  const control = controls.get(file) ?? runTestFile(copy, file, signal);
  controls.set(file, control);
  return control;
}

/** Says why a text is not Python; undefined where it is. */
async function pythonProblem(text: string): Promise<string | undefined> {
  const parse = ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'];
  const { failed, stderr } = await execa('python3', parse, { input: text, reject: false });
  return failed ? `the outcome is not Python: ${stderr.trim()}` : undefined;
}
