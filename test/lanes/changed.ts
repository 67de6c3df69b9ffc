/**
 * Runs what the files changed since a revision ask for: `npm run test:changed -- --since REV [--list]`.
 * Prints first what it chose and why; with --list it stops there. Changes that are not committed count.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { type Choice, choose } from './choose.ts';

const { values } = parseArgs({ options: { since: { type: 'string' }, list: { type: 'boolean' } } });
const { since, list = false } = values;

async function changedSince(revision: string): Promise<string[]> {
  const tracked = await execa('git', ['diff', '--name-only', '--no-renames', revision, '--']);
  const untracked = await execa('git', ['ls-files', '--others', '--exclude-standard']);
  const names = `${tracked.stdout}\n${untracked.stdout}`.split('\n').filter(Boolean);
  return [...new Set(names)].sort();
}

/** The unit tests that import one of the files, however indirectly. */
async function unitTestsOf(changed: readonly string[]): Promise<string[]> {
  const sources = changed.filter((file) => /\.ts$/.test(file) && existsSync(file));
  if (sources.length === 0) return [];
  const related = ['--selectProjects', 'unit', '--listTests', '--findRelatedTests', ...sources];
  const { stdout } = await execa('jest', related, { preferLocal: true });
  return stdout.split('\n').filter((line) => line.startsWith('/'));
}

function describe({ lane, patterns, because }: Choice): string {
  const files = because.length > 4 ? [...because.slice(0, 4), `and ${because.length - 4} more`] : because;
  return `  ${lane}: ${patterns.length === 0 ? 'all' : patterns.join(' ')}\n    for ${files.join(', ')}\n`;
}

async function run(args: readonly string[]): Promise<void> {
  await execa('node', ['test/lanes/run.ts', ...args], { stdio: 'inherit' });
}

if (since === undefined) {
  process.stderr.write('usage: npm run test:changed -- --since REV [--list]\n');
  process.exitCode = 2;
} else {
  const changed = await changedSince(since);
  const unit = await unitTestsOf(changed);
  const choices = choose(changed);
  process.stdout.write(
    `${changed.length} files changed since ${since}\n  checks\n  unit: ${unit.length} files that reach them\n${choices.map(describe).join('')}`,
  );
  if (!list) {
    await run(['checks']);
    if (unit.length > 0) await run(['unit', ...unit.map((path) => `^${path.replaceAll('.', '\\.')}$`)]);
    for (const { lane, patterns } of choices) await run([lane, ...patterns]);
  }
}
