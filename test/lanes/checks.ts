import { glob } from 'node:fs/promises';
import { execa } from 'execa';

/** Shell scripts whose names do not end in .sh. */
const SCRIPTS = [
  '.ci/run',
  'bin/stowage',
  'bin/kubectl-stowage',
  'bin/kubectl_complete-stowage',
  'completions/stowage.bash',
];

type Result = 'passed' | 'failed' | 'leftOut';

/**
 * Runs the linter, the type checker, the spelling check and shellcheck concurrently. A check whose
 * program is not installed is left out.
 */
export async function runChecks(): Promise<Record<Result, number>> {
  const checks: [string, string[]][] = [
    ['biome', ['check', '--error-on-warnings', '.']],
    ['tsc', ['--noEmit']],
    // The page of `stowage ui` has the types of a browser, and not those of Node.js.
    ['tsc', ['--noEmit', '-p', 'src/ui']],
    ['cspell', ['--no-progress', '--no-summary', '--unique']],
    ['shellcheck', [...SCRIPTS, ...(await shellScripts())]],
  ];
  const results = await Promise.all(checks.map(([program, args]) => check(program, args)));
  const count = (result: Result) => results.filter((each) => each === result).length;
  return { passed: count('passed'), failed: count('failed'), leftOut: count('leftOut') };
}

async function shellScripts(): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob('{scripts,src,test,salt,deploy}/**/*.sh')) found.push(path);
  return found.sort();
}

async function check(program: string, args: readonly string[]): Promise<Result> {
  const { exitCode, code, all } = await execa(program, args, {
    reject: false,
    preferLocal: true,
    all: true,
    stdin: 'ignore',
  });
  if (code === 'ENOENT') {
    process.stderr.write(`${program} is not installed: its check is left out\n`);
    return 'leftOut';
  }
  if (exitCode === 0) return 'passed';
  process.stderr.write(`${all}\n${program} failed\n`);
  return 'failed';
}
