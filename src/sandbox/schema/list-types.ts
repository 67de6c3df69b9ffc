import { isFields } from '../json.ts';
import type { Cause } from '../kind.ts';
import { childPath, fieldSchema, type Structural } from './structural.ts';

/**
 * Returns the fields that identify the items of a list; undefined for
 * lists whose items have no identity.
 */
export function mapKeys(schema: Structural): string[] | undefined {
  return schema['x-kubernetes-list-type'] === 'map'
    ? schema['x-kubernetes-list-map-keys']
    : undefined;
}

export function sameItem(keys: string[], a: unknown, b: unknown): boolean {
  return isFields(a) && isFields(b) && keys.every((key) => a[key] === b[key]);
}

/** Returns the duplicates in lists with the x-kubernetes-list-type map or set. */
export function duplicates(schema: Structural, value: unknown, path = ''): Cause[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const below =
      items === undefined
        ? []
        : value.flatMap((item, i) => duplicates(items, item, `${path}[${i}]`));
    return [
      ...value.flatMap((item, i) => duplicate(schema, item, value.slice(0, i), `${path}[${i}]`)),
      ...below,
    ];
  }
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([field, child]) => {
    const known = fieldSchema(schema, field);
    return known === undefined ? [] : duplicates(known, child, childPath(path, field));
  });
}

function duplicate(schema: Structural, item: unknown, earlier: unknown[], path: string): Cause[] {
  const keys = mapKeys(schema);
  const isThere =
    keys !== undefined
      ? earlier.some((one) => sameItem(keys, one, item))
      : schema['x-kubernetes-list-type'] === 'set' &&
        earlier.some((one) => JSON.stringify(one) === JSON.stringify(item));
  if (!isThere) return [];
  const shown =
    keys !== undefined && isFields(item)
      ? JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key]])))
      : JSON.stringify(item);
  return [{ field: path, reason: 'FieldValueDuplicate', text: `Duplicate value: ${shown}` }];
}

/** Throws for a list with unreliable keys. */
export function checkListTypes(schema: Structural, path = ''): void {
  const keys = mapKeys(schema);
  if (schema['x-kubernetes-list-type'] === 'map' && !keys?.length)
    throw new Error(`${path}: x-kubernetes-list-map-keys is required for a list of type map`);
  for (const key of keys ?? []) {
    const item = schema.items?.properties?.[key];
    if (item === undefined)
      throw new Error(`${path}: x-kubernetes-list-map-keys entry "${key}" is no property`);
    const required = schema.items?.required as string[] | undefined;
    if (item.default === undefined && !required?.includes(key))
      throw new Error(
        `${path}: property "${key}" is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      );
  }
  for (const [field, child] of Object.entries(schema.properties ?? {}))
    checkListTypes(child, childPath(path, field));
  if (schema.items) checkListTypes(schema.items, `${path}[]`);
  if (isFields(schema.additionalProperties))
    checkListTypes(schema.additionalProperties, `${path}{}`);
}
