import { Environment } from '@marcbachmann/cel-js';
import { parseQuantity } from '../../api/quantity.ts';
import { type Fields, isFields } from '../json.ts';
import { fieldSchema, type Structural } from './structural.ts';

/** What CEL's quantity() makes. */
class Quantity {
  readonly bytes: bigint;

  constructor(text: string) {
    this.bytes = parseQuantity(text);
  }

  compareTo({ bytes }: Quantity): bigint {
    return this.bytes < bytes ? -1n : this.bytes > bytes ? 1n : 0n;
  }
}

/** CEL as rules of CRDs use it: with the quantity library, and values of any type. */
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
  /** Rules that compare with the old value hold for updates only. */
  usesOld: boolean;
  /** Throws when the expression cannot be worked out for these values. */
  evaluate(values: { self: unknown; oldSelf?: unknown }): unknown;
}

/** Throws for text that is no CEL expression. */
export function compileExpression(text: string): Expression {
  const run = ENVIRONMENT.parse(text);
  return { usesOld: /\boldSelf\b/.test(text), evaluate: (values) => run(values) };
}

/** A value as CEL has it: JSON has one type of number and CEL two, which the schema tells apart. */
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

/** Rules call a property otherwise whose name could not stand in an expression; keys of maps are no names. */
function nameOf(schema: Structural | undefined, field: string): string {
  if (schema?.properties === undefined) return field;
  return KEYWORDS.includes(field)
    ? `__${field}__`
    : field.replaceAll(/__|[./-]/g, (found) => ESCAPES[found] ?? found);
}
