import type { KubeObject } from '../api/meta.ts';

/** `{.spec.fileName}`: a path of names in the data source. Everything else in a text stands for itself. */
const FIELD = /\{((?:\.[A-Za-z0-9_-]+)+)\}/g;

/** As long as Linux takes one argument (MAX_ARG_STRLEN), in bytes. */
const MAX_BYTES = 128 << 10;

/** What is wrong, as a sentence without its end. */
export class SubstitutionError extends Error {
  override name = 'SubstitutionError';
}

/**
 * A text with the fields of the data source in it, as one argument or value. A kubelet replaces `$(NAME)` there by a variable,
 * which may be a secret: what a field holds is written so that it stays as it is (`$$` is `$`). Throws a SubstitutionError
 * for a field that is missing, or neither text, number nor boolean, or can be no argument. Pure.
 */
export function substitute(template: string, source: KubeObject): string {
  if (template.includes('${.')) {
    throw new SubstitutionError(`${JSON.stringify(template)} has a '$' right before a field`);
  }
  const result = template.replaceAll(FIELD, (_, path: string) => escaped(valueAt(source, path)));
  if (Buffer.byteLength(result) >= MAX_BYTES) {
    throw new SubstitutionError(
      `${JSON.stringify(template)} would be longer than an argument can be`,
    );
  }
  return result;
}

/** Whether a text has a field of the data source in it. */
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
    throw new SubstitutionError(`its field ${path} is neither text nor a number nor a boolean`);
  }
  const text = String(found);
  if (text.includes('\0')) throw new SubstitutionError(`its field ${path} has a NUL in it`);
  return text;
}

const escaped = (text: string): string => text.replaceAll('$', '$$$$');
