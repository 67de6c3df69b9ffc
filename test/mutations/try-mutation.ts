import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { applyMutation } from './apply.ts';
import type { Mutation } from './mutation.ts';
import { type LimitedOutcome, runRelatedTests, runTestFile } from './run-tests.ts';
import type { WorkingCopy } from './working-copy.ts';

/** What became of a mutation. An error says that the table is wrong, or the tests are without it. */
export type Verdict =
  | { is: 'killed'; by: string; test: string }
  | { is: 'killed'; by: string; test?: never; late: true }
  | { is: 'survived' }
  | { is: 'error'; message: string };

export interface TryDeps {
  copy: WorkingCopy;
  signal: AbortSignal;
  /** Runs at most one function at a time: integration tests share the machine's devices. */
  alone<T>(run: () => Promise<T>): Promise<T>;
  /** The outcome of test files without a mutation, by name. */
  controls: Map<string, Promise<LimitedOutcome>>;
}

/** Applies a mutation to the working copy, runs the tests that may fail by it, and restores the copy. */
export async function tryMutation(mutation: Mutation, deps: TryDeps): Promise<Verdict> {
  const { copy } = deps;
  const { file } = mutation;
  const original = await readFile(file, 'utf8');
  const mutated = applyMutation(mutation, original);
  const problem = file.endsWith('.py') ? await pythonProblem(mutated) : undefined;
  if (problem !== undefined) return { is: 'error', message: problem };
  await copy.write(file, mutated);
  let outcome: LimitedOutcome;
  try {
    outcome = await runTests(mutation, deps);
  } finally {
    await copy.write(file, original);
  }
  return judge(outcome, deps);
}

async function runTests({ file, integration = [] }: Mutation, deps: TryDeps): Promise<LimitedOutcome> {
  const { copy, signal } = deps;
  const outcome = await runRelatedTests(copy, file, signal);
  if (outcome.is !== 'passed' || integration.length === 0) return outcome;
  return deps.alone(() => runIntegration(integration, deps));
}

async function runIntegration(names: readonly string[], { copy, signal }: TryDeps): Promise<LimitedOutcome> {
  await copy.build();
  try {
    for (const name of names) {
      const outcome = await runTestFile(copy, `test/integration/${name}`, signal);
      if (outcome.is !== 'passed') return outcome;
    }
    return { is: 'passed' };
  } finally {
    await copy.restoreBuild();
  }
}

async function judge(outcome: LimitedOutcome, deps: TryDeps): Promise<Verdict> {
  switch (outcome.is) {
    case 'passed':
      return { is: 'survived' };
    case 'late':
      return { is: 'killed', by: outcome.file, late: true };
    case 'not-loaded':
      return { is: 'error', message: `${outcome.file} does not load: ${outcome.message}` };
    case 'failed': {
      const control = await controlOf(outcome.file, deps);
      if (control.is === 'passed') return { is: 'killed', by: outcome.file, test: outcome.test };
      return { is: 'error', message: `${outcome.file} fails without a mutation, too` };
    }
  }
}

/** Shows once for each test file that it passes as long as nothing is mutated. */
function controlOf(file: string, { copy, signal, alone, controls }: TryDeps): Promise<LimitedOutcome> {
  const known = controls.get(file);
  if (known !== undefined) return known;
  const run = () => runTestFile(copy, file, signal);
  const control = file.startsWith('test/integration/') ? alone(run) : run();
  controls.set(file, control);
  return control;
}

/** Says why a text is not Python; undefined where it is. */
async function pythonProblem(text: string): Promise<string | undefined> {
  const parse = ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'];
  const { failed, stderr } = await execa('python3', parse, { input: text, reject: false });
  return failed ? `the outcome is not Python: ${stderr.trim()}` : undefined;
}
