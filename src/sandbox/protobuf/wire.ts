import { badRequest } from '../refusal.ts';

/** Field as encoded; strings, bytes and messages are buffers. */
export interface RawField {
  number: number;
  value: number | Buffer;
}

/**
 * Returns the fields of a protobuf message, in order. Throws a 400 for an invalid
 * message, and for fixed-width numbers.
 */
export function readFields(bytes: Buffer): RawField[] {
  const fields: RawField[] = [];
  let at = 0;
  const varint = () => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, result));
    }
    throw malformed();
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = tag >> 3;
    if ((tag & 7) === 0) fields.push({ number, value: varint() });
    else if ((tag & 7) === 2) {
      const length = varint();
      if (length < 0 || at + length > bytes.length) throw malformed();
      fields.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    } else throw malformed();
  }
  return fields;
}

const malformed = () => badRequest('the body is not a protobuf message that the sandbox reads');
