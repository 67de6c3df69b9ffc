import { describe, expect, test } from '@jest/globals';
import {
  compareBytes,
  compareDevice,
  haveCommonIdentifier,
  identityText,
  otherPathsOf,
  type Sameness,
  updateIdentity,
} from '../../src/storage/device-identity.ts';
import type { BlockDevice } from '../../src/storage/types.ts';

const NAA = '0x5000c500a1b2c3d4';

test('identityText lists the identifiers of the disk, the partition and the size', () => {
  const disk = { wwn: NAA, serial: 'a b=c' };
  const none = { dmUuid: undefined, partition: undefined, sizeBytes: 4096n };
  expect(identityText({ ...none, disk })).toBe(`wwn=${NAA} serial=a%20b%3Dc size=4096`);
  expect(identityText({ ...none, disk: { wwn: undefined, serial: '' }, dmUuid: 'LVM-x' })).toBe(
    'dm=LVM-x size=4096',
  );
  const guid = '40e162ae-83fa-4338-a322-5ddf937e6ba5';
  expect(identityText({ ...none, disk, partition: { number: 2, guid } })).toBe(
    `wwn=${NAA} serial=a%20b%3Dc partition=2 partuuid=${guid} size=4096`,
  );
});

const same = 'same';
const different = 'different';
const unknown = 'unknown';

test.each<[recorded: string, found: string, Sameness]>([
  ['wwn=0x5000 serial=a size=5', 'wwn=0x5000 serial=a size=5', same],
  // Virtual disks grow, but do not shrink.
  ['wwn=0x5000 size=5', 'wwn=0x5000 size=6', same],
  ['wwn=0x5000 size=5', 'wwn=0x5000 size=4', different],
  // Two disks, or two namespaces of an NVMe controller, with the same serial number.
  ['wwn=0x5000 serial=a size=5', 'wwn=0x6000 serial=a size=5', different],
  [
    'wwn=eui.0025385b71b00001 serial=a size=5',
    'wwn=eui.0025385b71b00002 serial=a size=5',
    different,
  ],
  [
    'wwn=uuid.11111111-0000-0000-0000-000000000001',
    'wwn=uuid.11111111-0000-0000-0000-000000000002',
    different,
  ],
  ['serial=a size=5', 'serial=a size=5', unknown],
  ['serial=a size=5', 'wwn=0x5000 serial=a size=5', unknown],
  ['wwn=0x5000 serial=a size=5', 'serial=a size=5', unknown],
  ['serial=a size=5', 'serial=b size=5', different],
  ['serial=a size=5', 'size=5', unknown],
  ['size=5', 'size=5', unknown],
  ['size=5', 'serial=a size=5', unknown],
  // Variants of the same identifier, by kernel, udev and lsblk.
  [`wwn=${NAA} serial=AB12 size=5`, `wwn=naa.${NAA.slice(2)} serial=AB_12 size=5`, same],
  [`wwn=naa.${NAA.slice(2)}`, `wwn=${NAA.slice(2).toUpperCase()}`, same],
  ['wwn=naa.X', 'wwn=X', same],
  ['wwn=uuid.1111-22', 'wwn=uuid.111122', same],
  // Types of identifiers that cannot be compared.
  ['wwn=t10.ATA%20disk%20a', `wwn=${NAA}`, unknown],
  ['wwn=eui.0025385b71b00001', 'wwn=eui.0025385b71b000010025385b71b00001', unknown],
  ['wwn=nvme.1234-a-b-00000001', 'wwn=uuid.1111', unknown],
  // Without the vendor's extension, several disks have the same identifier.
  [`wwn=${NAA}`, `wwn=${NAA}0123456789abcdef`, unknown],
  [`wwn=${NAA}0123456789abcdef`, `wwn=${NAA}fedcba9876543210`, different],
  // Firmware with the same WWN for all disks.
  [`wwn=${NAA} serial=a`, `wwn=${NAA} serial=b`, unknown],
  ['wwn=eui.0000000000000000 serial=a', 'wwn=eui.0000000000000000 serial=a', unknown],
  ['serial=a partition=1 size=5', 'serial=a partition=2 size=5', different],
  ['wwn=0x5000 partition=1 size=5', 'wwn=0x5000 size=9', different],
  ['wwn=0x5000 size=5', 'wwn=0x5000 partition=1 size=5', different],
  ['wwn=0x5000 partition=1 size=5', 'wwn=0x5000 partition=1 size=5', same],
  ['serial=a partition=1 partuuid=x', 'serial=a partition=1 partuuid=x', same],
  ['partition=1 partuuid=x', 'partition=1 partuuid=y', unknown],
  // A clone of the disk has the same partition table.
  ['serial=a partition=1 partuuid=x', 'serial=b partition=1 partuuid=x', different],
  ['dm=LVM-x size=5', 'dm=LVM-x size=5', same],
  ['dm=LVM-x size=5', 'dm=LVM-y size=5', different],
  // A damaged size in a record does not make two devices the same.
  ['dm=LVM-x size=x', 'dm=LVM-y size=5', different],
  ['wwn=0x5000 serial=a size=x', 'wwn=0x6000 serial=a size=5', different],
  ['serial=a size=x', 'serial=b size=5', different],
  ['wwn=0x5000 serial=a size=x', 'wwn=0x5000 serial=a size=5', unknown],
  ['dm=LVM-x size=5', 'wwn=0x5000 size=5', different],
  ['wwn=0x5000 size=5', 'dm=LVM-x size=5', different],
  ['', 'wwn=0x5000 size=5', unknown],
  ['serial=%zz', 'serial=%zz', unknown],
])('compareDevice: recorded %j, found %j: %s', (recorded, found, expected) => {
  expect(compareDevice({ identity: recorded }, { identity: found })).toBe(expected);
});

test.each<[recorded: string | undefined, found: string | undefined, Sameness]>([
  ['boot/7', 'boot/7', same],
  ['boot/7', 'boot/8', unknown],
  ['boot/7', undefined, unknown],
  [undefined, 'boot/7', unknown],
  [undefined, undefined, unknown],
])('compareDevice: recorded diskseq %j, found %j: %s', (recorded, found, expected) => {
  expect(
    compareDevice(
      { identity: 'size=5', presence: recorded },
      { identity: 'size=5', presence: found },
    ),
  ).toBe(expected);
});

test.each<[recorded: string, found: string, Sameness]>([
  ['wwn=0x5000 partition=1 size=5', 'wwn=0x5000 size=9', same],
  ['wwn=0x5000 size=9', 'wwn=0x5000 partition=1 size=5', same],
  ['wwn=0x5000 partition=1 size=5', 'wwn=0x5000 partition=1 size=5', same],
  ['wwn=0x5000 partition=1 size=5', 'wwn=0x5000 partition=2 size=5', different],
  ['wwn=0x5000 size=5', 'wwn=0x6000 size=5', different],
  ['serial=a size=5', 'serial=a partition=1 size=5', unknown],
  ['size=5', 'size=5', unknown],
])('compareBytes: recorded %j, found %j: %s', (recorded, found, expected) => {
  expect(compareBytes({ identity: recorded }, { identity: found })).toBe(expected);
});

test.each([
  ['serial=AB_12', 'wwn=0x1 serial=ab12', true],
  ['wwn=0x1 serial=a', 'wwn=0x1 serial=b', true],
  ['serial=a', 'serial=b', false],
  ['size=5', 'size=5', false],
])('haveCommonIdentifier: %j and %j: %s', (recorded, found, expected) => {
  expect(haveCommonIdentifier({ identity: recorded }, { identity: found })).toBe(expected);
});

describe('other paths of a disk', () => {
  const row = (name: string, more: Partial<BlockDevice> = {}): BlockDevice => ({
    ...{ name, device: '8:0', parent: undefined, type: 'disk', sizeBytes: 5n, readOnly: false },
    ...{ serial: 'S', wwn: NAA, ...more },
  });
  const part = (name: string, parent: string) => row(name, { type: 'part', parent });
  const disk = row('sda');
  const [first, second] = [part('sda1', 'sda'), part('sda2', 'sda')];
  const others = [
    ...[row('sdb', { wwn: `naa.${NAA.slice(2)}` }), part('sdb1', 'sdb'), part('sdb2', 'sdb')],
    ...[row('sdc', { wwn: '0x5000c500a1b2c3d5' }), row('sdd', { wwn: undefined })],
    row('dm-0', { type: 'mpath' }),
  ];
  const devices = [disk, first, second, ...others];
  const names = (found: readonly BlockDevice[]) => found.map(({ name }) => name);

  test('are disks with its WWN, and their partitions', () => {
    expect(names(otherPathsOf(disk, disk, devices))).toEqual(['sdb', 'sdb1', 'sdb2']);
  });

  test('include, for a partition, its counterparts and their disks', () => {
    expect(names(otherPathsOf(second, disk, devices))).toEqual(['sdb', 'sdb2']);
  });

  test('are empty without a WWN, even with the same serial number', () => {
    const plain = row('sdd', { wwn: undefined });
    expect(otherPathsOf(plain, plain, [plain, row('sde', { wwn: undefined })])).toEqual([]);
  });
});

test('updateIdentity keeps identifiers that the device no longer reports', () => {
  expect(updateIdentity('wwn=naa.X serial=AB12 size=5', 'serial=AB_12 size=6')).toBe(
    'wwn=naa.X serial=AB_12 size=6',
  );
});
