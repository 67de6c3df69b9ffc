import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { applyMutation } from './apply.ts';
import { AnchorError } from './extent.ts';
import type { Mutation } from './mutation.ts';

/** Returns why mutations do not fit the code or its tests, one message for each that does not. */
export async function checkAnchors(mutations: readonly Mutation[]): Promise<string[]> {
  const problems = await Promise.all(mutations.map(anchorProblem));
  return problems.filter((problem) => problem !== undefined);
}

async function anchorProblem(mutation: Mutation): Promise<string | undefined> {
  try {
    applyMutation(mutation, await readFile(mutation.file, 'utf8'));
    const lost = mutation.integration?.find((name) => !existsSync(`test/integration/${name}`));
    return lost === undefined
      ? undefined
      : `mutation ${mutation.id}: there is no test/integration/${lost}`;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing && !(error instanceof AnchorError)) throw error;
    return `mutation ${mutation.id}: ${(error as Error).message}`;
  }
}
