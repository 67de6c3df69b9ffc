import { stringify } from 'yaml';

/** Objects without what only the server needs, as kubectl prints them. */
function withoutManagedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('managedFields' in value)) return value;
  const { managedFields: _, ...rest } = value;
  return rest;
}

export function asJson(object: object): string {
  return `${JSON.stringify(object, withoutManagedFields, 2)}\n`;
}

export function asYaml(object: object): string {
  return stringify(JSON.parse(asJson(object)));
}
