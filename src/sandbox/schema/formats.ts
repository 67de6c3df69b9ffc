import type { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/** Formats that both the API server and ajv check; `password` accepts everything. */
const CHECKED = [
  'date-time',
  'date',
  'uuid',
  'ipv4',
  'ipv6',
  'email',
  'hostname',
  'uri',
  'byte',
  'int32',
  'int64',
  'float',
  'double',
  'password',
] as const;

/** Formats that the API server checks and ajv does not know or checks differently. */
const UNCHECKED = [
  'bsonobjectid',
  'cidr',
  'creditcard',
  'datetime',
  'duration',
  'hexcolor',
  'isbn',
  'isbn10',
  'isbn13',
  'mac',
  'rgbcolor',
  'ssn',
  'uuid3',
  'uuid4',
  'uuid5',
];

/** Throws for a format that the API server checks and the sandbox cannot. */
export function refuseFormat(format: unknown): void {
  if (UNCHECKED.includes(format as string))
    throw new Error(`the sandbox cannot check the format ${JSON.stringify(format)}`);
}

export const checkFormats = (ajv: Ajv) => addFormats.default(ajv, [...CHECKED]);
