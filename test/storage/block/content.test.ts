import { describe, expect, test } from '@jest/globals';
import { contentText, isLeftOf, type Printed } from '../../../src/storage/block/content.ts';
import { ObservationError } from '../../../src/storage/probe-results.ts';
import type { Signature } from '../../../src/storage/types.ts';

/** Returns output in the format of `wipefs -J` of util-linux 2.38. */
const wipefs = (...rows: [type: string, uuid?: string][]) =>
  JSON.stringify({
    signatures: rows.map(([type, uuid]) => ({
      device: 'x',
      offset: '0x0',
      type,
      uuid: uuid ?? null,
    })),
  });
const printed = (
  signature: Signature,
  text: string,
  number?: number,
  isBlank?: boolean,
): Printed => ({
  signature,
  blkid: '',
  blkidExit: 0,
  wipefs: text,
  uuids: [],
  isBlank,
  number,
});
const none = { found: 'none' } as const;
const one = (type: string, uuid?: string) =>
  ({ found: 'one', type, ...(uuid === undefined ? {} : { uuid }) }) as const;
const gpt = printed(one('gpt', 'T'), wipefs(['gpt'], ['gpt'], ['PMBR']));

describe('contentText', () => {
  test.each<[string, Printed, Printed[], string]>([
    ['nothing', printed(none, '{"signatures": [\n\n]}'), [], ''],
    ['nothing, from empty output of wipefs', printed(none, ''), [], ''],
    ['a file system', printed(one('ext4', 'A'), wipefs(['ext4', 'A'])), [], 'ext4:A'],
    [
      'a signature without a UUID',
      printed(one('ceph_bluestore'), wipefs(['ceph_bluestore'])),
      [],
      'ceph_bluestore',
    ],
    [
      'two signatures',
      printed({ found: 'ambivalent' }, wipefs(['xfs', 'B'], ['ext4', 'A'])),
      [],
      'ext4:A+xfs:B',
    ],
    [
      'signatures that wipefs cannot name',
      printed({ found: 'ambivalent' }, wipefs()),
      [],
      'ambivalent',
    ],
    ['a signature that only wipefs detects', printed(none, wipefs(['gpt'])), [], 'gpt'],
    [
      'a file system over an old one',
      printed(one('ext4', 'A'), wipefs(['ext4', 'A'], ['zfs_member', '7'])),
      [],
      'ext4:A+zfs_member:7',
    ],
    ['a partition table', gpt, [], 'gpt:T'],
    ['an MBR', printed(one('dos'), wipefs(['dos'])), [], 'dos'],
    [
      'a partition table and sorted partitions',
      gpt,
      [printed(none, wipefs(), 10), printed(one('ext4', 'A'), wipefs(['ext4', 'A']), 2)],
      'gpt:T;2=ext4:A;10=none',
    ],
    [
      'unknown data in a partition',
      gpt,
      [printed(none, wipefs(), 1, true), printed(none, wipefs(), 2, false)],
      'gpt:T;1=none;2=unknown data',
    ],
    [
      'partitions that only the kernel knows',
      printed(none, wipefs()),
      [printed(none, wipefs())],
      'no table;?=none',
    ],
  ])('describes a device with %s', (_, device, partitions, text) => {
    expect(contentText(device, partitions)).toBe(text);
  });

  test('throws on output of wipefs that it cannot parse', () => {
    expect(() => contentText(printed(none, 'wipefs: bad'), [])).toThrow(ObservationError);
  });
});

test.each([
  ['gpt:T;1=ext4:A', 'gpt:T;1=none', true],
  ['gpt:T;1=ext4:A', 'no table;?=none', true],
  ['gpt:T;1=ext4:A', 'gpt;?=ext4:A', true],
  ['gpt:T;1=ext4:A', 'PMBR', true],
  ['ext4:A+swap:B', 'swap:B', true],
  ['gpt:T;1=ext4:A', 'gpt:U;1=none', false],
  ['gpt:T;1=ext4:A', 'gpt:T;1=ext4:AB', false],
  ['gpt:T;1=ext4:AB', 'gpt:T;1=ext4:A', false],
  ['gpt:T;1=ext4:A', 'gpt:T;1=none;2=xfs:B', false],
  ['gpt:T;1=ext4:A', 'gpt:T;1=unknown data', true],
  ['gpt:T;1=ext4:A;2=none', 'gpt:T;1=none;2=unknown data', false],
  ['gpt:T;1=ext4:A', 'gpt:T;2=unknown data', false],
  ['gpt:T;1=ext4:A', 'no table;?=unknown data', true],
  ['gpt:T;1=ext4:A;2=none', 'no table;?=unknown data', false],
  ['gpt;1=unknown data', 'gpt;1=unknown data', true],
  ['gpt;1=unknown data', 'gpt;2=unknown data', false],
  ['ext4:A', 'ext4', false],
  ['ext4:A', 'PMBR', false],
  ['none', 'ext4:A', false],
  ['', 'ext4:A', false],
])('isLeftOf(%j, %j): %s', (before, content, left) => {
  expect(isLeftOf(before, content)).toBe(left);
});
