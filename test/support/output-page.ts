import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';

/** What scripts may rely on, as it is written for their authors. */
export const PAGE = readFileSync('docs/output.md', 'utf8');

/** What is not on the page must not be in the output either. `check` may have more: its checks are many. */
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

/** Holds output to a schema of the page, and to nothing more than that. */
export function expectSchema(name: string, data: unknown): void {
  const validate = schemas[name];
  if (validate === undefined) throw new Error(`docs/output.md has no schema ${name}`);
  validate(data);
  expect({ data, errors: validate.errors }).toEqual({ data, errors: null });
}
