import { expect, test } from '@jest/globals';
import { readTags } from '../../../src/storage/lvm/tags.ts';

const UID = '6e1c2b1f-7a54-4f0a-9c53-2f2d8f0b7e11';

test.each([
  ['a single tag', `  stowage.dev/uid=${UID}\n`, [UID]],
  ['a tag among others', `  a,stowage.dev/uid=${UID},z\n`, [UID]],
  ['a tag after a message of LVM', `  Retrying metadata scan.\n  stowage.dev/uid=${UID}\n`, [UID]],
  ['the tag of an unfinished Volume', `  stowage.dev/unfinished=${UID}\n`, [UID]],
  ['none', '  \n', []],
])("Volumes in a logical volume's tags: %s", (_, stdout, uids) => {
  expect(readTags(new Map([['tags', { exit: 0, stdout, stderr: '' }]]))).toEqual(uids);
});

test('readTags finds no Volumes if the tags were not probed', () => {
  expect(readTags(new Map())).toEqual([]);
});
