import { roundedSize } from '../../../api/rounded-size.ts';

/** Returns a quantity for people: a plain number of bytes is rounded, as it has no unit. */
export const readableSize = (quantity: string): string =>
  /^[0-9]+$/.test(quantity) ? roundedSize(Number(quantity)) : quantity;
