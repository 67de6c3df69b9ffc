import { stringify } from 'yaml';
import type { KubeObject } from '../../api/meta.ts';
import { escapeControls } from './printable.ts';

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

/** Strings with control characters are in double quotes, where there are escapes: the yaml package sees to that, for most. */
export function asYaml(object: object): string {
  const text = stringify(JSON.parse(asJson(object)));
  return text.replace(/[\u007f-\u009f]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
}

/** Several objects as one, as kubectl prints them. */
export const listOf = (items: readonly KubeObject[]) => ({
  apiVersion: 'v1',
  kind: 'List',
  metadata: { resourceVersion: '' },
  items,
});
