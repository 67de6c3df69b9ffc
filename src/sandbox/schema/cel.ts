import { Environment } from '@marcbachmann/cel-js';
import { parseQuantity } from '../../api/quantity.ts';
import { type Fields, isFields } from '../json.ts';
import { fieldSchema, type Structural } from './structural.ts';

/** Result of CEL's quantity(). */
class Quantity {
  readonly bytes: bigint;

  constructor(text: string) {
    this.bytes = parseQuantity(text);
  }

  compareTo({ bytes }: Quantity): bigint {
    return this.bytes < bytes ? -1n : this.bytes > bytes ? 1n : 0n;
  }
}

/** CEL for rules of CRDs: with the quantity library, and values of any type. */
const ENVIRONMENT = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
})
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn')
  .registerType('Quantity', Quantity)
  .registerFunction('quantity(string): Quantity', (text: string) => new Quantity(text))
  .registerFunction('Quantity.compareTo(Quantity): int', (a: Quantity, b: Quantity) =>
    a.compareTo(b),
  )
  .registerFunction(
    'Quantity.isGreaterThan(Quantity): bool',
    (a: Quantity, b: Quantity) => a.compareTo(b) > 0n,
  )
  .registerFunction(
    'Quantity.isLessThan(Quantity): bool',
    (a: Quantity, b: Quantity) => a.compareTo(b) < 0n,
  );

export interface Expression {
  /** Rules that compare with the old value apply to updates only. */
  usesOld: boolean;
  /** Throws if the expression cannot be evaluated for these values. */
  evaluate(values: { self: unknown; oldSelf?: unknown }): unknown;
}

/** Compiles a CEL expression. Throws for invalid text. */
export function compileExpression(text: string): Expression {
  const run = ENVIRONMENT.parse(text);
  return { usesOld: /\boldSelf\b/.test(text), evaluate: (values) => run(values) };
}

/** Converts a value for CEL, whose two types of number the schema distinguishes. */
export function celValue(schema: Structural | undefined, value: unknown): unknown {
  if (typeof value === 'number')
    return Number.isInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => celValue(schema?.items, item));
  if (!isFields(value)) return value;
  const result: Fields = {};
  for (const [field, child] of Object.entries(value))
    result[nameOf(schema, field)] = celValue(schema && fieldSchema(schema, field), child);
  return result;
}

const KEYWORDS =
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  );
const ESCAPES: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/**
 * Returns the name of a property in rules, which escape names that are invalid in an expression.
 * Keys of maps are not names.
 */
function nameOf(schema: Structural | undefined, field: string): string {
  if (schema?.properties === undefined) return field;
  return KEYWORDS.includes(field)
    ? `__${field}__`
    : field.replaceAll(/__|[./-]/g, (found) => ESCAPES[found] ?? found);
}
