import { expect, test } from '@jest/globals';
import { mkfs, tooSmall } from '../../src/storage/mkfs.ts';
import { UID } from '../support/volume-input.ts';

test('the UUID follows the options of the class, and the device comes last', () => {
  expect(mkfs({ type: 'ext4', options: ['-m', '0'] }, UID, '/dev/sdb')).toEqual([
    ...['mkfs.ext4', '-q', '-F', '-m', '0', '-U', UID, '/dev/sdb'],
  ]);
  expect(mkfs({ type: 'xfs', options: ['-m', 'crc=1'] }, UID, '/dev/sdb')).toEqual([
    ...['mkfs.xfs', '-q', '-f', '-m', 'crc=1', '-m', `uuid=${UID}`, '/dev/sdb'],
  ]);
});

test.each([
  ['xfs', (300n << 20n) - 1n, true],
  ['xfs', 300n << 20n, false],
  ['ext4', 1n, false],
] as const)('%s in %s bytes is too small: %s', (type, bytes, small) => {
  expect(tooSmall(type, bytes)?.reason.code).toBe(small ? 'FileSystemTooSmall' : undefined);
});
