import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isFields } from '../json.ts';
import type { Cause } from '../kind.ts';
import { invalidValue, notSupported, requiredValue } from '../refusal.ts';
import { checkFormats, refuseFormat } from './formats.ts';
import { childPath, type Structural } from './structural.ts';

/**
 * Options without ajv's complaints about Kubernetes's keywords and unknown formats. Optimizing the
 * generated code takes as long as generating it, and the checked values are small.
 */
const AJV_OPTIONS = {
  strict: false,
  logger: false,
  allErrors: true,
  verbose: true,
  code: { optimize: false },
} as const;

/**
 * Shared instance: each instance compiles the meta-schema, which takes
 * longer than Stowage's schemas.
 */
const ajv = new Ajv(AJV_OPTIONS);
checkFormats(ajv);

const LIMITS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

/**
 * Maximum number of compiled schemas in the cache, enough for several versions of an installation.
 */
const MOST_COMPILED = 100;

/**
 * Compiled schemas, by their text: a definition is checked and then served, and
 * each new server has the same ones.
 */
const compiled = new Map<string, ValidateFunction>();

/**
 * Returns a function that checks values by the JSON Schema part of a structural
 * schema. Throws for an invalid schema.
 */
export function typeChecker(schema: Structural): (value: unknown) => Cause[] {
  const jsonSchema = asJsonSchema(schema);
  const text = JSON.stringify(jsonSchema);
  const validate = compiled.get(text) ?? compile(jsonSchema);
  compiled.delete(text);
  compiled.set(text, validate);
  const [oldest] = compiled.keys();
  if (oldest !== undefined && compiled.size > MOST_COMPILED) compiled.delete(oldest);
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(causeOf);
  };
}

function compile(jsonSchema: Structural): ValidateFunction {
  const validate = ajv.compile(jsonSchema);
  // Otherwise, ajv would keep the schema for the life of the process.
  ajv.removeSchema(jsonSchema);
  return validate;
}

/**
 * Converts to JSON Schema, which writes int-or-string as two types, and an
 * exclusive limit as a limit of its own.
 */
function asJsonSchema(schema: Structural): Structural {
  const { default: _, ...result } = schema;
  refuseFormat(schema.format);
  for (const [limit, exclusive] of LIMITS) {
    if (result[exclusive] === true) {
      Object.assign(result, { [exclusive]: result[limit] });
      delete result[limit];
    } else delete result[exclusive];
  }
  if (schema['x-kubernetes-int-or-string'])
    return { ...result, type: ['integer', 'string'] } as never;
  if (schema.properties)
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([field, child]) => [field, asJsonSchema(child)]),
    );
  if (schema.items) result.items = asJsonSchema(schema.items);
  if (isFields(schema.additionalProperties))
    result.additionalProperties = asJsonSchema(schema.additionalProperties);
  return result;
}

/** Converts `/spec/items/0/name` to `spec.items[0].name`. */
function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : childPath(path, step)), '');
}

function causeOf(error: ErrorObject): Cause {
  const path = fieldPath(error.instancePath);
  const { params, data } = error;
  switch (error.keyword) {
    case 'required':
      return requiredValue(childPath(path, params.missingProperty));
    case 'enum':
      return notSupported(path, data, params.allowedValues);
    case 'type': {
      const found = JSON.stringify(typeOf(data));
      return {
        ...invalidValue(
          path,
          found,
          `${path} in body must be of type ${[params.type].flat().join(' or ')}: ${found}`,
        ),
        reason: 'FieldValueTypeInvalid',
      };
    }
    case 'format':
      return {
        ...invalidValue(
          path,
          JSON.stringify(data),
          `${path} in body must be of type ${params.format}: ${JSON.stringify(data)}`,
        ),
        reason: 'FieldValueTypeInvalid',
      };
    case 'maxLength':
      return {
        field: path,
        reason: 'FieldValueTooLong',
        text: `Too long: may not be more than ${params.limit} bytes`,
      };
    case 'maxItems':
      return {
        field: path,
        reason: 'FieldValueTooMany',
        text: `Too many: ${(data as unknown[]).length}: must have at most ${params.limit} items`,
      };
    case 'minItems':
      return invalidValue(
        path,
        String((data as unknown[]).length),
        `${path} in body ${shortfall(error)}`,
      );
    default:
      return invalidValue(path, JSON.stringify(data), `${path} in body ${shortfall(error)}`);
  }
}

/** Returns the message of go-openapi's validation. */
function shortfall({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'pattern':
      return `should match '${params.pattern}'`;
    case 'minLength':
      return `should be at least ${params.limit} chars long`;
    case 'minimum':
      return `should be greater than or equal to ${params.limit}`;
    case 'maximum':
      return `should be less than or equal to ${params.limit}`;
    case 'exclusiveMinimum':
      return `should be greater than ${params.limit}`;
    case 'exclusiveMaximum':
      return `should be less than ${params.limit}`;
    case 'multipleOf':
      return `should be a multiple of ${params.multipleOf}`;
    case 'minItems':
      return `should have at least ${params.limit} items`;
    default:
      return message ?? 'is invalid';
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
