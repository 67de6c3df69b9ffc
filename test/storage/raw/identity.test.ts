import { expect, test } from '@jest/globals';
import { diskOf, identityOf, overlaps, sameDevice, surelySame } from '../../../src/storage/raw/identity.ts';
import { disk } from '../../support/raw-input.ts';

const part = {
  ...disk,
  name: 'sdb2',
  parent: 'sdb',
  type: 'part',
  sizeBytes: 4096n,
  serial: undefined,
  wwn: undefined,
};

test('is what the disk says of itself, which part of it, and how large it is', () => {
  expect(identityOf(disk, disk, undefined, undefined)).toBe('wwn=0x5000 serial=S1 size=1073741824');
  expect(identityOf(part, disk, 2, undefined)).toBe('wwn=0x5000 serial=S1 partition=2 size=4096');
  expect(identityOf({ ...part, type: 'lvm' }, part, undefined, 'LVM-x')).toBe('dm=LVM-x size=4096');
  const odd = { ...disk, serial: 'a b=c', wwn: '' };
  expect(identityOf(odd, odd, undefined, undefined)).toBe('serial=a%20b%3Dc size=1073741824');
});

test('of a partition, the disk is its parent', () => {
  expect(diskOf(part, [part, disk])).toBe(disk);
  expect(diskOf(part, [part])).toBe(part);
  expect(diskOf({ ...part, type: 'lvm' }, [part, disk])).toMatchObject({ type: 'lvm' });
});

test.each([
  ['wwn=1 serial=a size=5', 'wwn=1 serial=a size=5', true],
  ['wwn=1 serial=a size=5', 'wwn=1 serial=a size=6', true],
  ['wwn=1 serial=a size=5', 'wwn=1 serial=a size=4', false],
  ['wwn=1 serial=a size=5', 'wwn=1 serial=b size=5', false],
  ['wwn=1 serial=a size=5', 'wwn=2 serial=a size=5', false],
  ['serial=a partition=1 size=5', 'serial=a partition=2 size=5', false],
  ['size=5', 'size=5', true],
  ['size=5', 'serial=a', false],
  // The kernel may tell more, or less, of a disk than it did.
  ['serial=a size=5', 'wwn=1 serial=a size=5', true],
  ['wwn=1 serial=a size=5', 'serial=a size=5', true],
  ['dm=LVM-x size=5', 'dm=LVM-y size=5', false],
])('recorded %j, found %j: the same is %s', (recorded, found, same) => {
  expect(sameDevice(recorded, found)).toBe(same);
});

test.each([
  ['wwn=1 size=5', 'wwn=1 size=5', true],
  ['serial=a size=5', 'wwn=1 serial=a size=5', true],
  ['dm=LVM-x size=5', 'dm=LVM-x size=5', true],
  ['serial=a size=5', 'size=5', false],
  ['size=5', 'serial=a size=5', false],
  ['partition=1 size=5', 'partition=1 size=5', false],
  ['size=5', 'size=5', false],
  [undefined, 'wwn=1 size=5', false],
])('recorded %j, found %j: surely the same is %s', (recorded, identity, expected) => {
  const before = recorded === undefined ? {} : { identity: recorded };
  const facts = { ...disk, identity };
  expect(surelySame(before, { ...facts, presence: undefined })).toBe(expected);
  const seen = { ...facts, presence: 'boot/7' };
  expect(surelySame({ ...before, presence: 'boot/8' }, seen)).toBe(expected);
  expect(surelySame({ ...before, presence: 'other/7' }, seen)).toBe(expected);
  expect(surelySame({ ...before, presence: 'boot/7' }, seen)).toBe(true);
});

test.each([
  ['serial=a size=5', 'serial=a size=5', true],
  ['serial=a partition=1 size=5', 'serial=a size=9', true],
  ['serial=a size=9', 'serial=a partition=1 size=5', true],
  ['serial=a partition=1 size=5', 'serial=a partition=1 size=5', true],
  ['serial=a partition=1 size=5', 'serial=a partition=2 size=5', false],
  ['serial=b size=5', 'serial=a size=5', false],
  ['size=5', 'size=5', false],
])('of %j and %j both have the same bytes: %s', (identity, found, expected) => {
  const device = { ...disk, identity: found };
  expect(overlaps({ identity }, device)).toBe(expected);
  expect(overlaps({ identity, presence: 'b00t/7' }, device)).toBe(
    !/partition=1/.test(identity) || !/partition=2/.test(found),
  );
});
