import { isFields } from '../json.ts';
import type { StoredObject } from '../kind.ts';
import { STRUCTS } from './fields.ts';

type Struct = ReadonlyMap<string, string>;

const structs = new Map<string, Struct>();

/** Read when it is first needed: most commands need none. */
function structOf(name: string): Struct | undefined {
  const known = structs.get(name);
  if (known !== undefined || !Object.hasOwn(STRUCTS, name)) return known;
  const fields = (STRUCTS[name] ?? '').split(' ').map((field): [string, string] => {
    const end = field.lastIndexOf(':');
    return [field.slice(0, end), field.slice(end + 1)];
  });
  const struct = new Map(fields);
  structs.set(name, struct);
  return struct;
}

/**
 * Removes from an object of a built-in kind, in place, what its Go type has no field for, and what is as good as absent:
 * nulls, and lists and maps with nothing in them. Returns the paths of the fields that nobody knows. Its metadata is not
 * looked into.
 */
export function pruneBuiltin(object: StoredObject): string[] {
  const { apiVersion, kind, metadata, ...rest } = object;
  const unknown = prune(rest, kind, '');
  for (const field of Object.keys(object))
    if (!['apiVersion', 'kind', 'metadata'].includes(field) && !(field in rest)) delete object[field];
  Object.assign(object, rest);
  return unknown;
}

function prune(value: unknown, type: string, path: string): string[] {
  if (type.startsWith('[')) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, i) => prune(item, type.slice(1), `${path}[${i}]`));
  }
  if (!isFields(value)) return [];
  const struct = type.startsWith('{') ? undefined : structOf(type);
  if (struct === undefined && !type.startsWith('{')) return [];
  const unknown: string[] = [];
  for (const [field, child] of Object.entries(value)) {
    const at = path === '' ? field : `${path}.${field}`;
    const known = struct === undefined ? type.slice(1) : struct.get(field);
    if (known === undefined) unknown.push(at);
    else unknown.push(...prune(child, known, at));
    if (known === undefined || isAbsent(child, known)) delete value[field];
  }
  return unknown;
}

function isAbsent(value: unknown, type: string): boolean {
  if (value === null) return true;
  if (type.startsWith('[')) return Array.isArray(value) && value.length === 0;
  return type.startsWith('{') && isFields(value) && Object.keys(value).length === 0;
}
