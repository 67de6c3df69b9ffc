import { isFields } from '../json.ts';
import type { Cause } from '../kind.ts';
import { invalidValue } from '../refusal.ts';
import { celValue, compileExpression, type Expression } from './cel.ts';
import { mapKeys, sameItem } from './list-types.ts';
import { childPath, fieldSchema, type Rule, type Structural } from './structural.ts';

interface CompiledRule extends Rule {
  expression: Expression;
  messages?: Expression;
}

/** Rules of a schema, by the part of the schema that has them. */
export type CompiledRules = Map<Structural, CompiledRule[]>;

/** Compiles the rules of a schema. Throws for an invalid CEL expression. */
export function compileRules(schema: Structural, rules: CompiledRules = new Map()): CompiledRules {
  const own = schema['x-kubernetes-validations'];
  if (own)
    rules.set(
      schema,
      own.map((rule) => ({
        ...rule,
        expression: compileExpression(rule.rule),
        ...(rule.messageExpression === undefined
          ? {}
          : { messages: compileExpression(rule.messageExpression) }),
      })),
    );
  for (const child of Object.values(schema.properties ?? {})) compileRules(child, rules);
  if (schema.items) compileRules(schema.items, rules);
  if (isFields(schema.additionalProperties)) compileRules(schema.additionalProperties, rules);
  return rules;
}

/**
 * Returns the causes that the rules find in a value. Items of a list have an old value only if the
 * list is a map (x-kubernetes-list-type).
 */
export function applyRules(
  rules: CompiledRules,
  schema: Structural,
  value: unknown,
  old: unknown,
  path = '',
): Cause[] {
  if (value === undefined || value === null) return [];
  const causes = (rules.get(schema) ?? []).flatMap((rule) =>
    applyRule(rule, schema, value, old, path),
  );
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return causes;
    const keys = mapKeys(schema);
    const before = (item: unknown) =>
      keys && Array.isArray(old) ? old.find((one) => sameItem(keys, one, item)) : undefined;
    return [
      ...causes,
      ...value.flatMap((item, i) => applyRules(rules, items, item, before(item), `${path}[${i}]`)),
    ];
  }
  if (!isFields(value)) return causes;
  for (const [field, child] of Object.entries(value)) {
    const known = fieldSchema(schema, field);
    const before = isFields(old) ? old[field] : undefined;
    if (known) causes.push(...applyRules(rules, known, child, before, childPath(path, field)));
  }
  return causes;
}

function applyRule(
  rule: CompiledRule,
  schema: Structural,
  value: unknown,
  old: unknown,
  path: string,
): Cause[] {
  const { expression, messages } = rule;
  if (expression.usesOld && old === undefined) return [];
  const values = {
    self: celValue(schema, value),
    ...(expression.usesOld ? { oldSelf: celValue(schema, old) } : {}),
  };
  // Objects and lists are not shown.
  const shown = typeof value === 'object' ? undefined : JSON.stringify(value);
  const at = path === '' ? '<nil>' : path;
  const field = rule.fieldPath === undefined ? at : `${path}${rule.fieldPath}`;
  try {
    if (expression.evaluate(values) === true) return [];
    const text = messages === undefined ? rule.message : String(messages.evaluate(values));
    return [
      { ...invalidValue(field, shown, text ?? `failed rule: ${rule.rule}`), ...reasonOf(rule) },
    ];
  } catch (error) {
    const why = (error as Error).message.split('\n')[0];
    return [invalidValue(at, shown, `rule evaluation error: ${why}: ${rule.rule}`)];
  }
}

function reasonOf(rule: Rule): { reason?: string } {
  return rule.reason === undefined ? {} : { reason: rule.reason };
}
