import { parseQuantity } from '../../api/quantity.ts';
import type { StoredObject } from '../kind.ts';
import { badRequest } from '../refusal.ts';
import type { Fields } from './plain.ts';

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;

/**
 * Throws a 400 for a value that is no metav1.MicroTime: Go requires
 * exactly six digits after the point.
 */
export function decodeMicroTimes(object: StoredObject, fields: unknown, names: string[]): void {
  for (const name of names) {
    const value = (fields as Fields | undefined)?.[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || !MICRO_TIME.test(value))
      throw undecodable(
        object,
        `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": ${notParsed(String(value))}`,
      );
  }
}

/** Returns Go's message about the part of a time that it cannot parse. */
function notParsed(text: string): string {
  const fraction = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/.exec(text)?.[1];
  const [rest, wanted] = fraction === undefined ? [text, '2006'] : [fraction, '.000000'];
  return `cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(wanted)}`;
}

/** Throws a 400 for a value that is no quantity. */
export function decodeQuantities(object: StoredObject, quantities: unknown): void {
  for (const value of Object.values((quantities ?? {}) as Fields))
    try {
      parseQuantity(value as string);
    } catch {
      throw undecodable(
        object,
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    }
}

const undecodable = ({ kind }: StoredObject, why: string) =>
  badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
