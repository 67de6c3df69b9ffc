import { type Extent, pythonDefinitions, shellFunctions } from './extent-text.ts';
import { nestedFunctions } from './extent-typescript.ts';

/** The function of a mutation, or the text in it, is missing or ambiguous. */
export class AnchorError extends Error {
  override readonly name = 'AnchorError';
}

/**
 * Returns the extent of a function in the text of a file.
 * @param path as in `Mutation.function`
 * @throws AnchorError unless there is exactly one function of this path
 */
export function extentOf(file: string, text: string, path: string): Extent {
  let found: Extent[] = [{ start: 0, end: text.length }];
  for (const name of path.split('.'))
    found = found.flatMap((outer) => functionsOf(file, text, name, outer));
  const [extent, another] = found;
  if (extent === undefined) throw new AnchorError(`${file} has no function ${path}`);
  if (another !== undefined) throw new AnchorError(`${file} has ${found.length} functions ${path}`);
  return extent;
}

function functionsOf(file: string, text: string, name: string, outer: Extent): Extent[] {
  if (name === 'main' && file.endsWith('.sh')) return [outer];
  if (name.endsWith('()')) return shellFunctions(text, name.slice(0, -2), outer);
  return file.endsWith('.py')
    ? pythonDefinitions(text, name, outer)
    : nestedFunctions(text, name, outer);
}
