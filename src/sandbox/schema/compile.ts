import type { ObjectSchema } from '../kind.ts';
import { invalidValue } from '../refusal.ts';
import { fillDefaults } from './defaults.ts';
import { checkListTypes, duplicates } from './list-types.ts';
import { pruneObject } from './prune.ts';
import { applyRules, compileRules } from './rules.ts';
import type { Structural } from './structural.ts';
import { typeChecker } from './types.ts';

const RULES_SKIPPED = invalidValue(
  '<nil>',
  'null',
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** Reasons after which rules are not evaluated: such values could make them fail. */
const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Compiles a schema. Throws if the schema, or a rule in it, is invalid. */
export function compileSchema(schema: Structural): ObjectSchema {
  checkListTypes(schema);
  const check = typeChecker(schema);
  const rules = compileRules(schema);
  return {
    definition: schema,
    prune: (object) => pruneObject(schema, object).sort(),
    fillDefaults: (object) => fillDefaults(schema, object),
    validate(object, old, before = []) {
      const causes = check(object);
      if ([...before, ...causes].some(({ reason }) => BLOCKING.has(reason)))
        return rules.size > 0 ? [...causes, RULES_SKIPPED] : causes;
      return [...causes, ...duplicates(schema, object), ...applyRules(rules, schema, object, old)];
    },
  };
}
