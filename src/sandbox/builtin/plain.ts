import type { Cause, StoredObject } from '../kind.ts';
import { invalidValue, notSupported, requiredValue } from '../refusal.ts';

export type Fields = Record<string, unknown>;

/** Common fields of most built-in kinds. */
export const plain = {
  shortNames: [],
  categories: [],
  statusSubresource: false,
  custom: false,
  group: '',
  version: 'v1',
  namespaced: false,
};

export const specOf = (object: StoredObject) => (object.spec ?? {}) as Fields;

export function required(fields: unknown, path: string, names: string[]): Cause[] {
  const found = (fields ?? {}) as Fields;
  return names
    .filter((name) => found[name] === undefined || found[name] === '')
    .map((name) => requiredValue(path === '' ? name : `${path}.${name}`));
}

export function oneOf(value: unknown, path: string, values: string[]): Cause[] {
  if (value === undefined || values.includes(value as string)) return [];
  return [notSupported(path, value, values)];
}

export const immutable = (path: string, value: unknown): Cause =>
  invalidValue(path, JSON.stringify(value ?? null), 'field is immutable');

/** Renames fields as in the API server's internal types, which its messages show. */
export function goCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(goCase);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([field, child]) => [
      field === 'apiGroup' ? 'APIGroup' : field[0]?.toUpperCase() + field.slice(1),
      goCase(child),
    ]),
  );
}
