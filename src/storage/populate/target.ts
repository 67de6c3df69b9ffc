import type { FillTarget } from './types.ts';

/** Returns the first arguments of each script that populates volumes. */
export const targetWords = ({
  path,
  uid,
  content,
  offsetBytes,
  sizeBytes,
  isZero,
}: FillTarget): string[] => [
  ...[path, uid, content, String(offsetBytes), String(sizeBytes)],
  isZero ? 'zeroes' : 'dirty',
];
