/**
 * Part of a structural schema (apiextensions.k8s.io/v1 JSONSchemaProps) that the
 * sandbox reads; ajv reads the rest.
 */
export interface Structural {
  type?: string;
  properties?: Record<string, Structural>;
  additionalProperties?: Structural | boolean;
  items?: Structural;
  nullable?: boolean;
  default?: unknown;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: Rule[];
  [keyword: string]: unknown;
}

/** CEL rule about the value at its place in the schema. */
export interface Rule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
}

/** Returns the schema of a field; undefined if the schema does not know the field. */
export function fieldSchema(schema: Structural, field: string): Structural | undefined {
  const own =
    schema.properties && Object.hasOwn(schema.properties, field)
      ? schema.properties[field]
      : undefined;
  if (own !== undefined) return own;
  const others = schema.additionalProperties;
  return others === true ? { 'x-kubernetes-preserve-unknown-fields': true } : others || undefined;
}

/** Joins a path: `spec` + `size` → `spec.size`. */
export function childPath(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}
