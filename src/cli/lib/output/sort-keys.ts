import { parseQuantity } from '../../../api/quantity.ts';

/** Returns the key of an age, the youngest first; a time that cannot be read is the oldest. */
export const ageKey = (time: string | undefined): number => -(Date.parse(time ?? '') || 0);

/** Returns the key of a quantity; one that is missing, or cannot be read, comes first. */
export function sizeKey(quantity: string | undefined): bigint {
  try {
    return parseQuantity(quantity ?? '');
  } catch {
    return -1n;
  }
}
