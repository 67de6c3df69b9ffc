import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mutation } from './mutation.ts';
import type { Verdict } from './try-mutation.ts';

export interface Result {
  id: string;
  /** Hash of the mutation and of the file that it changes. */
  key: string;
  /** Hash of the tests that the verdict depends on. */
  tests: string;
  verdict: Verdict;
  seconds: number;
}

/** Verdicts of earlier runs, one JSON object a line, so that an interrupted run can continue. */
export interface Results {
  /**
   * Returns the last result of a mutation, or undefined if the code or the tests have changed
   * since.
   */
  of(mutation: Mutation): Promise<Result | undefined>;
  add(mutation: Mutation, verdict: Verdict, seconds: number): Promise<Result>;
}

/** Opens the file of results. @param fresh drops its content */
export async function openResults(path: string, fresh: boolean): Promise<Results> {
  await mkdir(dirname(path), { recursive: true });
  if (fresh) await rm(path, { force: true });
  const text = await readFile(path, 'utf8').catch(() => '');
  const results = new Map<string, Result>();
  for (const line of text.split('\n')) {
    const result = parseLine(line);
    if (result !== undefined) results.set(result.id, result);
  }
  const testsOf = await createTestHashes();
  return {
    async of(mutation) {
      const result = results.get(mutation.id);
      if (result?.key !== (await keyOf(mutation))) return undefined;
      return result.tests === (await testsOf(result.verdict)) ? result : undefined;
    },
    async add(mutation, verdict, seconds) {
      const [key, tests] = await Promise.all([keyOf(mutation), testsOf(verdict)]);
      const result = { id: mutation.id, key, tests, verdict, seconds };
      await appendFile(path, `${JSON.stringify(result)}\n`);
      return result;
    },
  };
}

/** Parses a line. The last line of a killed run may be incomplete. */
function parseLine(line: string): Result | undefined {
  try {
    return JSON.parse(line) as Result;
  } catch {
    return undefined;
  }
}

async function keyOf(mutation: Mutation): Promise<string> {
  const text = await readFile(mutation.file).catch(() => '');
  return hash(JSON.stringify(mutation), text);
}

/** Suites that no mutation runs, and the tables: the key of a result already includes its row. */
const NOT_RUN = ['bench', 'cluster', 'mutations', 'thorough'];

/**
 * Returns the hash of the tests that a verdict depends on. A kill depends on the failed test and on
 * the support code, so that new tests do not invalidate it. Other verdicts depend on all tests.
 */
async function createTestHashes(): Promise<(verdict: Verdict) => Promise<string>> {
  const entries = await readdir('test', { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !NOT_RUN.includes(file.split('/')[1] ?? '') && !file.includes('__pycache__'))
    .sort();
  const all = hash(...(await contentsOf(files)));
  const shared = hash(
    ...(await contentsOf(files.filter((file) => file.startsWith('test/support/')))),
  );
  return async (verdict) =>
    verdict.is === 'killed' && !('late' in verdict)
      ? hash(shared, ...(await contentsOf([verdict.by])))
      : all;
}

async function contentsOf(files: readonly string[]): Promise<(string | Buffer)[]> {
  const contents = await Promise.all(files.map((file) => readFile(file).catch(() => '')));
  return files.flatMap((file, at) => [file, contents[at] ?? '']);
}

function hash(...parts: readonly (string | Buffer)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part).update('\0');
  return sum.digest('hex').slice(0, 16);
}
