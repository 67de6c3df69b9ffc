import { isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';

export const isDirective = (key: string) => key.startsWith('$');

/** Reports whether `$patch` deletes; false: it replaces. Throws a 400 for anything else. */
export function deleteDirective(directive: unknown): boolean {
  if (directive !== 'delete' && directive !== 'replace')
    throw badRequest(`unknown patch type found: ${JSON.stringify(directive)}`);
  return directive === 'delete';
}

/**
 * Returns a new value without directives, which have nothing to act on: drops nulls, objects with
 * `$patch` and other directives, at any depth.
 */
export function withoutDirectives(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value))
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isFields(value)) return value;
  if (value.$patch !== undefined) return undefined;
  const entries = Object.entries(value).map(
    ([field, child]) => [field, withoutDirectives(child)] as const,
  );
  return Object.fromEntries(
    entries.filter(([field, child]) => !isDirective(field) && child !== undefined),
  );
}

/**
 * Returns a value that replaces another, or is new to a list, as a whole. Drops `$retainKeys`,
 * which has nothing to keep, and nulls, which are no values in the API's Go types. Refuses other
 * directives: strategicpatch would leave them in the object.
 */
export function plain(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map(plain).filter((item) => item !== undefined);
  if (!isFields(value)) return value;
  const { $retainKeys: _, ...rest } = value;
  const directive = Object.keys(rest).find(isDirective);
  if (directive !== undefined)
    throw badRequest(
      `${JSON.stringify(directive)} is within what is new, or within a list that is not merged`,
    );
  const entries = Object.entries(rest).map(([field, child]) => [field, plain(child)] as const);
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}
