import { type Fields, isFields } from '../json.ts';
import { badRequest } from '../refusal.ts';
import { MESSAGES } from './messages.ts';
import { type RawField, readFields } from './wire.ts';

const MAGIC = Buffer.from('k8s\0');

/**
 * Decodes a body of type application/vnd.kubernetes.protobuf: an envelope (runtime.Unknown) around
 * one of the known messages. Throws a 400 for anything else, and for a field that would be lost.
 */
export function decodeProtobuf(body: Buffer): Fields {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw badRequest('the body is not a protobuf object');
  const envelope = readFields(body.subarray(MAGIC.length));
  const [type, raw] = [bytesOf(envelope, 1), bytesOf(envelope, 2)];
  const [apiVersion, kind] = [1, 2].map((number) => bytesOf(readFields(type), number).toString());
  if (kind === undefined || !Object.hasOwn(MESSAGES, kind))
    throw badRequest(`the sandbox reads ${kind} as JSON only, not as protobuf`);
  return { apiVersion, kind, ...decodeMessage(kind, raw) };
}

function bytesOf(fields: RawField[], number: number): Buffer {
  const found = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0);
}

function decodeMessage(message: string, bytes: Buffer): Fields {
  const result: Fields = {};
  for (const { number, value } of readFields(bytes)) {
    const [name, type = ''] = MESSAGES[message]?.[number]?.split(' ') ?? [];
    if (name === undefined) {
      if (isNothing(value)) continue;
      throw badRequest(`the sandbox does not know field ${number} of ${message} in protobuf`);
    }
    if (type.startsWith('[]'))
      result[name] = [...((result[name] as unknown[]) ?? []), decodeValue(type.slice(2), value)];
    else if (type.startsWith('{}'))
      result[name] = { ...(result[name] as Fields), ...decodeEntry(type.slice(2), value) };
    else if (type.startsWith('?')) result[name] = decodeValue(type.slice(1), value);
    else {
      const decoded = decodeValue(type, value);
      if (!isEmpty(decoded)) result[name] = decoded;
    }
  }
  return result;
}

/** Reports whether a value is empty: Go writes empty fields, too, unless they are pointers. */
function isEmpty(value: unknown): boolean {
  return !value || (isFields(value) && Object.keys(value).length === 0);
}

/** Reports whether a value is zero, empty, or a message of only such values. */
function isNothing(value: RawField['value']): boolean {
  if (!Buffer.isBuffer(value)) return value === 0;
  if (value.length === 0) return true;
  try {
    return readFields(value).every((field) => field.number > 0 && isNothing(field.value));
  } catch {
    return false;
  }
}

function decodeEntry(type: string, value: RawField['value']): Fields {
  const fields = readFields(Buffer.isBuffer(value) ? value : Buffer.alloc(0));
  return { [bytesOf(fields, 1).toString()]: decodeValue(type, bytesOf(fields, 2)) };
}

function decodeValue(type: string, value: RawField['value']): unknown {
  if (type === 'int' && typeof value === 'number') return value;
  if (type === 'bool' && typeof value === 'number') return value !== 0;
  if (!Buffer.isBuffer(value)) throw badRequest(`a ${type} in protobuf is of another type`);
  if (type === 'string') return value.toString();
  return type === 'bytes' ? value.toString('base64') : decodeMessage(type, value);
}
