import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

/** Documentation of the output for authors of scripts. */
export const PAGE = readFileSync('docs/output.md', 'utf8');

/**
 * Returns a schema that rejects undocumented fields. The schema of `check` remains open: its checks
 * are many.
 */
function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const inner = Object.entries(schema).map(([key, value]) => [
    key,
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? closed(value as Record<string, unknown>)
      : value,
  ]);
  const closes = schema.type === 'object' && 'properties' in schema;
  return { ...Object.fromEntries(inner), ...(closes ? { additionalProperties: false } : {}) };
}

const schemas = Object.fromEntries(
  [...PAGE.matchAll(/^```yaml schema (\w+)\n(.*?)^```$/gms)].map(([, name = '', text = '']) => [
    name,
    new Ajv({ strict: true }).compile(name === 'check' ? parse(text) : closed(parse(text))),
  ]),
);

/** Expects that output matches a schema of the page, without additional fields. */
export function expectSchema(name: string, data: unknown): void {
  const validate = schemas[name];
  if (validate === undefined) throw new Error(`docs/output.md has no schema ${name}`);
  validate(data);
  expect({ data, errors: validate.errors }).toEqual({ data, errors: null });
}
