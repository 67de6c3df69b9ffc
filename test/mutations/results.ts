import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Mutation } from './mutation.ts';
import type { Verdict } from './try-mutation.ts';

export interface Result {
  id: string;
  /** Of all that the verdict depends on: a result with another key is out of date. */
  key: string;
  verdict: Verdict;
  seconds: number;
}

/** The verdicts of earlier runs, one JSON object a line, so that a run that was interrupted goes on. */
export interface Results {
  of(mutation: Mutation, key: string): Result | undefined;
  add(result: Result): Promise<void>;
}

/** @param fresh drops what the file holds */
export async function openResults(path: string, fresh: boolean): Promise<Results> {
  await mkdir(dirname(path), { recursive: true });
  if (fresh) await rm(path, { force: true });
  const text = await readFile(path, 'utf8').catch(() => '');
  const results = new Map<string, Result>();
  for (const line of text.split('\n')) {
    const result = parseLine(line);
    if (result !== undefined) results.set(result.id, result);
  }
  return {
    of({ id }, key) {
      const result = results.get(id);
      return result?.key === key ? result : undefined;
    },
    async add(result) {
      results.set(result.id, result);
      await appendFile(path, `${JSON.stringify(result)}\n`);
    },
  };
}

/** The last line of a run that was killed may be cut off. */
function parseLine(line: string): Result | undefined {
  try {
    return JSON.parse(line) as Result;
  } catch {
    return undefined;
  }
}

/** Suites that no mutation runs, and the tables, of which each row is in its own key. */
const NOT_RUN = ['bench', 'cluster', 'mutations', 'thorough'];

/** Hashes all test files that a mutation may run, in the order of their names. */
export async function hashTests(folder = 'test'): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const file of files.sort()) {
    if (NOT_RUN.includes(file.split('/')[1] ?? '') || file.includes('__pycache__')) continue;
    hash
      .update(file)
      .update('\0')
      .update(await readFile(file));
  }
  return hash.digest('hex');
}

/** @param tests as `hashTests` returns it */
export async function keyOf(mutation: Mutation, tests: string): Promise<string> {
  const hash = createHash('sha256')
    .update(tests)
    .update(await readFile(mutation.file));
  return hash.update(JSON.stringify(mutation)).digest('hex').slice(0, 16);
}
