import { expect, test } from '@jest/globals';
import { downloadBytes } from '../../../src/storage/populate/download.ts';
import { SCRIPTS } from '../../../src/storage/scripts/scripts.ts';

test('a qcow2 reserves as many bytes as the script may download', () => {
  expect(SCRIPTS['stowage-image']).toContain('limit=$((SIZE + SIZE / 64 + 16777216))\n');
  expect(downloadBytes('qcow2', 6400n)).toBe(6400n + 100n + 16_777_216n);
});

test('content that is written directly to the volume reserves no extra bytes', () => {
  expect(['raw', 'exact', undefined].map((format) => downloadBytes(format, 6400n))).toEqual([
    0n,
    0n,
    0n,
  ]);
});
