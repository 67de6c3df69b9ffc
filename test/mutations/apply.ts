import { spawnSync } from 'node:child_process';
import { AnchorError, extentOf } from './extent.ts';
import { parse } from './extent-typescript.ts';
import type { Mutation } from './mutation.ts';

/**
 * Returns the text of a file with a mutation applied.
 * @throws AnchorError if the function or the text in it is missing or ambiguous, or the result
 * cannot be parsed
 */
export function applyMutation(mutation: Mutation, text: string): string {
  const { file, find, replace } = mutation;
  const { start, end } = extentOf(file, text, mutation.function);
  const body = text.slice(start, end);
  const at = body.indexOf(find);
  const place = `${file}, function ${mutation.function}`;
  if (at < 0) throw new AnchorError(`${place}: the text to replace is missing: ${find}`);
  if (body.indexOf(find, at + 1) >= 0)
    throw new AnchorError(`${place}: the text to replace is ambiguous: ${find}`);
  const mutated = text.slice(0, start + at) + replace + text.slice(start + at + find.length);
  if (file.endsWith('.ts')) {
    try {
      parse(mutated);
    } catch (cause) {
      throw new AnchorError(`${place}: the outcome is not TypeScript`, { cause });
    }
  }
  if (file.endsWith('.sh') && spawnSync('sh', ['-n'], { input: mutated }).status !== 0) {
    throw new AnchorError(`${place}: the outcome is no shell script`);
  }
  return mutated;
}
