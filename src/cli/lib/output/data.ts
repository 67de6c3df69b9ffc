import { Document, Scalar, visit } from 'yaml';
import type { KubeObject } from '../../../api/meta.ts';
import { escapeControls, steers } from './printable.ts';

/** Drops managedFields, which only the server needs, as kubectl does. */
function withoutManagedFields(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('managedFields' in value)) return value;
  const { managedFields: _, ...rest } = value;
  return rest;
}

/** Returns JSON without characters that steer a terminal. Parsers still read the same data. */
export function asJson(object: object): string {
  return `${escapeControls(JSON.stringify(object, withoutManagedFields, 2))}\n`;
}

/** Pattern of numbers with underscores: Go drops these first, even where YAML 1.1 does not. */
const GO_NUMBER = /^[-+.]?\d.*_/;

/**
 * Returns an object as YAML, also for readers of YAML 1.1 such as kubectl. For them, `off` and
 * `1_000` are texts only within quotes.
 */
export function asYaml(object: object): string {
  const document = new Document(JSON.parse(asJson(object)), { compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_key, scalar) {
      const { value } = scalar;
      if (typeof value !== 'string') return;
      // Only double quotes have escapes.
      if (steers(value) || GO_NUMBER.test(value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeControls(document.toString());
}

/** Format of data: JSON, YAML, or a JSONPath template of kubectl. */
export type DataFormat = 'json' | 'yaml' | `jsonpath=${string}`;

/** Returns what formats an object as data; undefined for other formats. Throws a StowageError. */
export async function formatterOf(
  output: string | undefined,
): Promise<((object: object) => string) | undefined> {
  if (output === 'json') return asJson;
  if (output === 'yaml') return asYaml;
  if (!output?.startsWith('jsonpath=')) return undefined;
  const { fillJsonPath } = await import('./json-path.ts');
  const template = output.slice('jsonpath='.length);
  return (object) => fillJsonPath(template, JSON.parse(asJson(object)));
}

/** Combines several objects into a List, as kubectl does. */
export const listOf = (items: readonly KubeObject[]) => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items,
});
