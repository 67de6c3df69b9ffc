import { isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';
import { canonical } from './canonical-quantity.ts';
import { goName, type StructField, structOf } from './structs.ts';

/**
 * Returns the JSON of a Go struct after it is decoded, stored and encoded again. Unknown fields are
 * dropped, as are empty ones that the type omits; fields that the type never omits are present.
 * Adds the paths of unknown fields to `unknown`. Throws a 400 for a value of another type.
 */
export function asGoStruct(
  kind: string,
  value: object,
  unknown: string[],
): Record<string, unknown> {
  const refuse = (why: string) =>
    badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
  return struct(kind, value as Record<string, unknown>, {
    kind,
    path: '',
    fields: [],
    unknown,
    refuse,
  });
}

interface DecodePosition {
  /** Innermost struct. */
  kind: string;
  path: string;
  /** Path without indices and keys of maps, as in Go's errors. */
  fields: string[];
  unknown: string[];
  refuse: (why: string) => Error;
}

/** Returns undefined for Go's nil. */
function decode(type: string, value: unknown, place: DecodePosition): unknown {
  if (value === null || value === undefined) return zeroOf(type, place);
  if (type.startsWith('*')) return decode(type.slice(1), value, place);
  if (type.startsWith('[')) {
    if (!Array.isArray(value)) throw mismatch(type, value, place);
    if (value.length === 0) return undefined;
    return value.map((item, i) =>
      decode(type.slice(1), item, { ...place, path: `${place.path}[${i}]` }),
    );
  }
  if (type.startsWith('{')) {
    if (!isFields(value)) throw mismatch(type, value, place);
    const entries = Object.entries(value);
    if (entries.length === 0) return undefined;
    const at = (key: string) => ({ ...place, path: `${place.path}.${key}` });
    return Object.fromEntries(
      entries.map(([key, child]) => [key, decode(type.slice(1), child, at(key))]),
    );
  }
  if (structOf(type) !== undefined) {
    if (!isFields(value)) throw mismatch(type, value, place);
    return struct(type, value, place);
  }
  return scalar(type, value, place);
}

function struct(
  type: string,
  value: Record<string, unknown>,
  place: DecodePosition,
): Record<string, unknown> {
  const known = structOf(type) ?? new Map<string, StructField>();
  const at = (name: string) => (place.path === '' ? name : `${place.path}.${name}`);
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value)) if (!known.has(name)) place.unknown.push(at(name));
  for (const field of known.values()) {
    const inner = {
      ...place,
      kind: type,
      path: at(field.name),
      fields: [...place.fields, field.name],
    };
    const child = decode(field.type, value[field.name], inner);
    if (!isLeftOut(field, child)) result[field.name] = child ?? null;
  }
  return result;
}

function isLeftOut({ type, omitEmpty, omitZero }: StructField, value: unknown): boolean {
  if (!omitEmpty) return false;
  if (value === undefined) return true;
  // A pointer to an empty value is not empty, nor is a struct.
  if (type.startsWith('*')) return false;
  if (type === 'Time' || type === 'MicroTime') return omitZero && value === null;
  return value === '' || value === 0 || value === false;
}

function zeroOf(type: string, place: DecodePosition): unknown {
  if (/^[*[{]/.test(type)) return undefined;
  if (structOf(type) !== undefined) return struct(type, {}, place);
  switch (type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'Quantity':
      return '0';
    case 'int':
    case 'int32':
    case 'int64':
    case 'float64':
      return 0;
    case 'Time':
    case 'MicroTime':
      return null;
    default:
      return undefined;
  }
}

const SCALARS: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int: Number.isInteger,
  int32: Number.isInteger,
  int64: Number.isInteger,
  float64: (value) => typeof value === 'number',
};

function scalar(type: string, value: unknown, place: DecodePosition): unknown {
  if (SCALARS[type]?.(value) === false) throw mismatch(type, value, place);
  return type === 'Quantity' ? canonical(value) : value;
}

function mismatch(type: string, value: unknown, { kind, fields, refuse }: DecodePosition): Error {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  const field = `${kind}.${fields.join('.')}`;
  return refuse(
    `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goName(type)}`,
  );
}
