/**
 * Runs the tests that files changed since a revision require: `npm run test:changed -- --since REV
 * [--list]`.
 * Prints the choice and its reasons first. With --list it stops there. Uncommitted changes count,
 * too.
 */
import { globSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { type Choice, choose, exactly, laneFiles } from './choose.ts';
import { runMain, UsageError } from './main.ts';
import { unitTestsOf } from './unit-tests.ts';

const USAGE = 'usage: npm run test:changed -- --since REV [--list]';

function parse(): { since: string; list: boolean } {
  try {
    const { values } = parseArgs({
      options: { since: { type: 'string' }, list: { type: 'boolean' } },
    });
    if (values.since !== undefined) return { since: values.since, list: values.list ?? false };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${USAGE}`);
  }
  throw new UsageError(USAGE);
}

async function changedSince(revision: string): Promise<string[]> {
  const known = await execa('git', ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    reject: false,
  });
  if (known.exitCode !== 0) throw new UsageError(`git knows no revision ${revision}\n${USAGE}`);
  const tracked = await execa('git', [
    'diff',
    '-z',
    '--name-only',
    '--no-renames',
    known.stdout,
    '--',
  ]);
  const untracked = await execa('git', ['ls-files', '-z', '--others', '--exclude-standard']);
  return [...new Set(`${tracked.stdout}\0${untracked.stdout}`.split('\0').filter(Boolean))].sort();
}

function describe({ lane, patterns, files, because }: Choice): string {
  const shown =
    because.length > 4 ? [...because.slice(0, 4), `and ${because.length - 4} more`] : because;
  const which = patterns.length === 0 ? 'all' : patterns.join(' ');
  return `  ${lane}: ${which} (${files.length} files)\n    for ${shown.join(', ')}\n`;
}

async function run(args: readonly string[]): Promise<void> {
  const { exitCode } = await execa('node', ['test/lanes/run.ts', ...args], {
    stdio: 'inherit',
    reject: false,
  });
  if (exitCode !== 0) process.exit(exitCode ?? 1);
}

await runMain(async () => {
  const { since, list } = parse();
  const changed = await changedSince(since);
  const tests = globSync('test/**/*.test.ts').sort();
  const choices = choose(changed, tests);
  const reached = await unitTestsOf(changed, since);
  const unit = new Set([
    ...reached,
    ...choices.flatMap(({ lane, files }) => (lane === 'unit' ? files : [])),
  ]);
  process.stdout.write(
    `${changed.length} files changed since ${since}\n  checks\n  unit tests: ${unit.size} files, ${reached.length} of them by what they import or read\n${choices.map(describe).join('')}`,
  );
  if (list) return;
  await run(['checks']);
  if (unit.size > 0) await runPart('unit', [...unit]);
  for (const { lane, files } of choices) if (lane !== 'unit') await runPart(lane, files);

  async function runPart(lane: string, files: readonly string[]): Promise<void> {
    const isWhole = files.length === laneFiles(lane, tests).length;
    await run([lane, ...(isWhole ? [] : files.map(exactly))]);
  }
});
