import type { KubeObject } from '../api/meta.ts';

/** Field of the data source in a text, such as `{.spec.fileName}`. Any other text is literal. */
const FIELD = /\{((?:\.[A-Za-z0-9_-]+)+)\}/g;

/** Maximum bytes of one argument in Linux (MAX_ARG_STRLEN). */
const MAX_BYTES = 128 << 10;

/** Reason why a field cannot be substituted, as a sentence without a full stop. */
export class SubstitutionError extends Error {
  override name = 'SubstitutionError';
}

/**
 * Returns a text with the fields of the data source in it, as one argument or value. A kubelet
 * expands `$(NAME)` to a variable, which may be a secret: so `$` in a field is written as `$$`.
 * Throws a SubstitutionError for a field that is missing, cannot be an argument, or is no text,
 * number or boolean. Pure.
 */
export function substitute(template: string, source: KubeObject): string {
  if (template.includes('${.')) {
    throw new SubstitutionError(`${JSON.stringify(template)} has a '$' right before a field`);
  }
  const result = template.replaceAll(FIELD, (_, path: string) => escaped(valueAt(source, path)));
  if (Buffer.byteLength(result) >= MAX_BYTES) {
    throw new SubstitutionError(
      `${JSON.stringify(template)} would exceed the maximum length of an argument`,
    );
  }
  return result;
}

export const hasField = (text: string): boolean => text.search(FIELD) !== -1;

function valueAt(source: KubeObject, path: string): string {
  let found: unknown = source;
  for (const name of path.slice(1).split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) {
      throw new SubstitutionError(`it has no field ${path}`);
    }
    found = (found as Record<string, unknown>)[name];
  }
  if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'boolean') {
    throw new SubstitutionError(`its field ${path} is not a string, number or boolean`);
  }
  const text = String(found);
  if (text.includes('\0')) throw new SubstitutionError(`its field ${path} contains a NUL`);
  return text;
}

const escaped = (text: string): string => text.replaceAll('$', '$$$$');
