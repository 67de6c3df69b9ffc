import type { FillTarget } from './types.ts';

/** What each script that fills volumes takes first. */
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
