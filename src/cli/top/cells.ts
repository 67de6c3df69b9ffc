import { roundedSize } from '../../api/rounded-size.ts';

/** Cell of an unknown figure, as in `df`. */
export const UNKNOWN = '-';

/** Returns a size in bytes for people, also a negative one. */
export function sizeCell(bytes: number | undefined): string {
  if (bytes === undefined) return UNKNOWN;
  return `${bytes < 0 ? '-' : ''}${roundedSize(Math.abs(bytes))}`;
}

export const percentCell = (percent: number | undefined): string =>
  percent === undefined ? UNKNOWN : `${percent}%`;

/** Returns a sort key that puts the largest first, and unknown ones last. */
export const largest = (number: number | undefined): number =>
  number === undefined ? Number.POSITIVE_INFINITY : -number;
