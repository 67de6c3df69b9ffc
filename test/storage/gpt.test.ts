import { expect, test } from '@jest/globals';
import {
  GPT_END,
  GPT_START,
  growTable,
  newTable,
  newTableInFile,
  setPartitionGuid,
} from '../../src/storage/gpt.ts';
import { fileBytes } from '../../src/storage/loopfile/layout.ts';
import { UID } from '../support/volume-input.ts';

const GI = 1n << 30n;
const long = { uid: UID, name: 'a'.repeat(200) };
const ours = [`--partition-guid=1:${UID}`, `--disk-guid=${UID}`, '--change-name=1:data1'];
const table = { uid: UID, name: 'data1' };

test('the partition in a file has exactly the requested size', () => {
  expect(newTableInFile(table, GI, '/f')).toEqual([
    'sgdisk',
    '--clear',
    '--new=1:2048:2099199',
    ...ours,
    '/f',
  ]);
  expect((2099199n - 2048n + 1n) * 512n).toBe(GI);
});

test('the file of a Block volume has space for both copies of the table', () => {
  const last = (GPT_START + GI) / 512n;
  expect(fileBytes({ mode: 'Block', sizeBytes: GI })).toBe(GPT_START + GI + GPT_END);
  // The backup table has 33 sectors at the end.
  expect(fileBytes({ mode: 'Block', sizeBytes: GI }) / 512n - last).toBeGreaterThanOrEqual(33n);
  expect(fileBytes({ mode: 'Filesystem', sizeBytes: GI })).toBe(GI);
});

test('the partition on a disk is as large as possible', () => {
  expect(newTable(table, '/dev/sdb')).toEqual([
    'sgdisk',
    '--clear',
    '--largest-new=1',
    ...ours,
    '/dev/sdb',
  ]);
});

test('an expansion keeps start, GUID and name of the partition', () => {
  expect(growTable(table, 2n * GI, '/dev/loop3')).toEqual([
    ...[
      'sgdisk',
      '--move-second-header',
      '--delete=1',
      '--new=1:2048:4196351',
      ...ours,
      '/dev/loop3',
    ],
  ]);
});

test('setPartitionGuid sets the GUID of the partition with the number', () => {
  expect(setPartitionGuid(12, 'R', '/dev/sdb')).toEqual([
    'sgdisk',
    '--partition-guid=12:R',
    '/dev/sdb',
  ]);
});

test('a partition name is cut to 36 characters', () => {
  expect(newTable(long, '/dev/sdb')).toContain(`--change-name=1:${'a'.repeat(36)}`);
});
