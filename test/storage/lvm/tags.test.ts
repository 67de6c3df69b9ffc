import { expect, test } from '@jest/globals';
import { readTags } from '../../../src/storage/lvm/tags.ts';

const UID = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';

test.each([
  ['one', `  stowage.dev/uid=${UID}\n`, [UID]],
  ['among others', `  a,stowage.dev/uid=${UID},z\n`, [UID]],
  ['with what LVM says beside', `  Retrying metadata scan.\n  stowage.dev/uid=${UID}\n`, [UID]],
  ['of one that is being made', `  stowage.dev/unfinished=${UID}\n`, [UID]],
  ['none', '  \n', []],
])("Volumes in a logical volume's tags: %s", (_, stdout, uids) => {
  expect(readTags(new Map([['tags', { exit: 0, stdout, stderr: '' }]]))).toEqual(uids);
});

test('readTags finds no Volumes if the tags were not probed', () => {
  expect(readTags(new Map())).toEqual([]);
});
