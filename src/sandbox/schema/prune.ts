import { type Fields, isFields } from '../json.ts';
import { childPath, fieldSchema, type Structural } from './structural.ts';

const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];

/** Removes fields that the schema does not know, in place; returns their paths. */
export function pruneObject(schema: Structural, object: Fields): string[] {
  return prune({ ...schema, 'x-kubernetes-embedded-resource': true }, object, '');
}

function prune(schema: Structural, value: unknown, path: string): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.flatMap((item, index) => prune(items, item, `${path}[${index}]`));
  }
  if (!isFields(value)) return [];
  const removed: string[] = [];
  for (const [field, child] of Object.entries(value)) {
    if (schema['x-kubernetes-embedded-resource'] && OBJECT_FIELDS.includes(field)) continue;
    const known = fieldSchema(schema, field);
    if (known !== undefined) removed.push(...prune(known, child, childPath(path, field)));
    else if (!schema['x-kubernetes-preserve-unknown-fields']) {
      delete value[field];
      removed.push(childPath(path, field));
    }
  }
  return removed;
}
