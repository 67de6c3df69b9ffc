import { copyOf, isFields } from '../json.ts';
import { fieldSchema, type Structural } from './structural.ts';

/**
 * Fills defaults, in place, after it removes nulls where the schema permits
 * none: a default may replace them.
 */
export function fillDefaults(schema: Structural, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) if (schema.items) fillDefaults(schema.items, item);
    return;
  }
  if (!isFields(value)) return;
  for (const [field, child] of Object.entries(value)) {
    const known = fieldSchema(schema, field);
    if (child === null && known?.type !== undefined && !known.nullable) delete value[field];
  }
  for (const [field, known] of Object.entries(schema.properties ?? {}))
    if (value[field] === undefined && known.default !== undefined)
      value[field] = copyOf(known.default);
  for (const [field, child] of Object.entries(value)) {
    const known = fieldSchema(schema, field);
    if (known) fillDefaults(known, child);
  }
}
