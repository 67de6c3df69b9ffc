import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { VOLUME_CRD } from '../../../api/crds.ts';

const STRINGS = { type: 'object', additionalProperties: { type: 'string' } };

const NAMED = {
  type: 'object',
  required: ['metadata'],
  properties: {
    metadata: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', maxLength: 253 },
        labels: STRINGS,
        annotations: STRINGS,
      },
    },
  },
};

/** Minimum schemas for code that reads the fields; the API server checks the rest. */
const SCHEMAS = {
  named: NAMED,
  Volume: { allOf: [NAMED, VOLUME_CRD.spec.versions[0]?.schema.openAPIV3Schema ?? {}] },
  StorageClass: {
    allOf: [NAMED],
    type: 'object',
    required: ['provisioner'],
    properties: {
      provisioner: { type: 'string' },
      parameters: STRINGS,
      mountOptions: { type: 'array', items: { type: 'string' } },
    },
  },
} as const;
export type SchemaName = keyof typeof SCHEMAS;

// Formats and `x-kubernetes-…` are left to the API server.
const ajv = new Ajv({ strict: false, validateFormats: false });
const compiled = new Map<SchemaName, ValidateFunction>();

/** Returns the first field that violates the schema, and why; undefined if the object is valid. */
export function schemaProblem(object: unknown, name: SchemaName): string | undefined {
  const validate = compiled.get(name) ?? ajv.compile(SCHEMAS[name]);
  compiled.set(name, validate);
  if (validate(object)) return undefined;
  return validate.errors?.slice(0, 1).map(worded).join();
}

function worded({ instancePath, message, params }: ErrorObject): string {
  const field = instancePath
    .slice(1)
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : '';
  return `${field === '' ? 'it' : field} ${message}${allowed}`;
}
