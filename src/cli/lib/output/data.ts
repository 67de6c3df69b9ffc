import { Document, Scalar, visit } from 'yaml';
import type { KubeObject } from '../../../api/meta.ts';
import { escapeControls, steers } from './printable.ts';

/** Objects without what only the server needs, as kubectl prints them. */
function withoutManagedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('managedFields' in value)) return value;
  const { managedFields: _, ...rest } = value;
  return rest;
}

/** What programs read of it is what was given. */
export function asJson(object: object): string {
  return `${escapeControls(JSON.stringify(object, withoutManagedFields, 2))}\n`;
}

/** Go takes underscores out before it looks for a number, also where YAML 1.1 has none. */
const GO_NUMBER = /^[-+.]?\d.*_/;

/** For readers of YAML 1.1, too, as kubectl is one: `off` and `1_000` are texts only within quotes there. */
export function asYaml(object: object): string {
  const document = new Document(JSON.parse(asJson(object)), { compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_key, scalar) {
      const { value } = scalar;
      if (typeof value !== 'string') return;
      // Only there are escapes.
      if (steers(value) || GO_NUMBER.test(value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeControls(document.toString());
}

/** Several objects as one, as kubectl prints them. */
export const listOf = (items: readonly KubeObject[]) => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items,
});
