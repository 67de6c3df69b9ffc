import { existsSync, globSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { execa } from 'execa';

/** Unit tests that read directories of the repository: any change there affects them. */
const READ_DIRECTORIES = [
  'test/api/reasons.test.ts',
  'test/cli/directories.test.ts',
  'test/cli/why/causes.test.ts',
  'test/documents/*.test.ts',
  'test/lanes/choose.test.ts',
  'test/mutations/anchors.test.ts',
  'test/nodes/refused-step.test.ts',
  'test/scripts/generated.test.ts',
  'test/scripts/package-scripts.test.ts',
  'test/workqueue/clock.test.ts',
];

/**
 * Returns the unit tests that changed files reach, relative to the checkout. These tests import
 * one, directly or indirectly, or name its path, or imported a deleted file.
 * @param since a revision that has the deleted files
 */
export async function unitTestsOf(changed: readonly string[], since: string): Promise<string[]> {
  if (changed.length === 0) return [];
  const readers = await Promise.all(
    changed.map((file) => (existsSync(file) ? readersOf(file) : importersOf(file, since))),
  );
  const reached = [...changed, ...readers.flat()].filter(
    (file) => file.endsWith('.ts') && existsSync(file),
  );
  const found = reached.length === 0 ? [] : await testsThatReach([...new Set(reached)]);
  return [...new Set([...found, ...globSync(READ_DIRECTORIES)])].sort();
}

/** Returns the TypeScript files with the path as a string, or that import such a file as text. */
export async function readersOf(file: string): Promise<string[]> {
  if (file.endsWith('.ts')) return [];
  return grep([`'${file}'`, '-e', `/${basename(file)}'`, '--', '*.ts']);
}

/** Returns the TypeScript files that imported a file of its name at the revision. */
async function importersOf(file: string, revision: string): Promise<string[]> {
  const found = await grep([`/${basename(file)}'`, revision, '--', '*.ts']);
  return found.map((line) => line.slice(revision.length + 1));
}

async function grep(args: readonly string[]): Promise<string[]> {
  const { stdout, exitCode, stderr } = await execa(
    'git',
    ['grep', '-z', '-l', '-F', '-e', ...args],
    {
      reject: false,
    },
  );
  // Exit status 1 means no match.
  if (exitCode !== 0 && exitCode !== 1) throw new Error(stderr);
  return stdout.split('\0').filter(Boolean);
}

async function testsThatReach(files: readonly string[]): Promise<string[]> {
  const related = ['--selectProjects', 'unit', '--listTests', '--findRelatedTests', ...files];
  const { stdout } = await execa('jest', related, { preferLocal: true });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('/'))
    .map((path) => relative('.', path));
}
