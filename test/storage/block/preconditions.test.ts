import { expect, test } from '@jest/globals';
import {
  lockOf,
  notInUsePreconditions,
  notOpenPreconditions,
  sameDevicePreconditions,
} from '../../../src/storage/block/preconditions.ts';
import { disk, partition } from '../../support/raw-input.ts';

const second = { ...disk, name: 'sda', device: '8:0' };
const secondPart = { ...partition, name: 'sda2', device: '8:2', parent: 'sda' };

test('the checks for use cover all paths of a disk', () => {
  const device = { ...disk, otherPaths: [second, secondPart] };
  for (const name of ['sdb', 'sda', 'sda2']) {
    expect(notInUsePreconditions(device)).toContainEqual(
      expect.objectContaining({ refusal: `/dev/${name} is in use: it is mounted` }),
    );
    expect(notOpenPreconditions(device)).toContainEqual(
      expect.objectContaining({ refusal: `/dev/${name} is in use: a process has it open` }),
    );
  }
});

test.each([
  ['disk', disk],
  ['partition', partition],
])('notInUsePreconditions checks last whether a %s is open exclusively', (_, device) => {
  expect(notInUsePreconditions(device).at(-1)).toMatchObject({
    argv: ['mkfs.ext4', '-n', '-q', '-F', `/dev/${device.name}`, '8M'],
    refusal: `/dev/${device.name} is in use: it is open exclusively`,
  });
});

test.each([
  ['a disk', disk, ['/sys/class/block/sdb/diskseq', '7']],
  ['a partition', partition, ['/sys/class/block/sdb/diskseq', '7']],
  ['a device of a kernel without sequence numbers', { ...disk, presence: undefined }, undefined],
])('sameDevicePreconditions verifies %s by diskseq, if known', (_, device, expected) => {
  const found = sameDevicePreconditions(device).find(({ argv }) =>
    argv.at(-1)?.endsWith('/diskseq'),
  );
  expect(found && [found.argv.at(-1), (found.expect.stdout as { is: string }).is]).toEqual(
    expected,
  );
});

test('notOpenPreconditions allows the disks of a partition to be open for reading', () => {
  const device = { ...partition, otherPaths: [second, secondPart] };
  expect(notOpenPreconditions(device).map(({ refusal }) => refusal)).toEqual([
    '/dev/sdb2 is in use: a process has it open',
    '/dev/sda2 is in use: a process has it open',
    '/dev/sdb is in use: a process has it open for writing',
    '/dev/sda is in use: a process has it open for writing',
  ]);
});

test('every path of a disk has the same lock', () => {
  expect(lockOf({ ...disk, otherPaths: [second] })).toBe('/dev/sda');
  expect(lockOf({ ...disk, name: 'sda', otherPaths: [disk] })).toBe('/dev/sda');
  expect(lockOf({ ...partition, otherPaths: [second, secondPart] })).toBe('/dev/sda');
  expect(lockOf(partition)).toBe('/dev/sdb');
});
