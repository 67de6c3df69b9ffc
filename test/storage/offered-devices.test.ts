import { expect, test } from '@jest/globals';
import { offeredProbe, readOffered } from '../../src/storage/offered-devices.ts';
import { ObservationError } from '../../src/storage/probe-results.ts';
import { result } from '../support/fake-executor.ts';
import { may } from '../support/sudoers.ts';

const row = (kname: string, more: object = {}) => ({
  kname,
  pkname: null,
  type: 'disk',
  size: 1024,
  ro: false,
  model: null,
  fstype: null,
  uuid: null,
  pttype: null,
  mountpoint: null,
  ...more,
});
const read = (...rows: object[]) => readOffered(result(0, JSON.stringify({ blockdevices: rows })));

test('sudo allows the look', () => {
  expect(may(offeredProbe().argv)).toBe(true);
});

test('disks and partitions, with what they are and carry', () => {
  const part = row('sda1', { pkname: 'sda', type: 'part', fstype: 'xfs', uuid: 'u', pttype: 'gpt' });
  expect(
    read(
      row('sda', { model: 'Fast Disk  ', pttype: 'gpt' }),
      part,
      row('sdb', { size: '2048' }),
      row('sdc', { fstype: 'LVM2_member', uuid: 'v' }),
      row('sdd', { pttype: 'dos' }),
    ),
  ).toEqual([
    { path: '/dev/sda', model: 'Fast Disk', sizeBytes: 1024n, carries: 'gpt', usedFor: 'it has partitions' },
    { path: '/dev/sda1', sizeBytes: 1024n, carries: 'xfs:u' },
    { path: '/dev/sdb', sizeBytes: 2048n },
    { path: '/dev/sdc', sizeBytes: 1024n, carries: 'LVM2_member:v' },
    { path: '/dev/sdd', sizeBytes: 1024n, carries: 'dos' },
  ]);
});

test('a disk that something is made of is in use', () => {
  const volume = row('dm-0', { pkname: 'sda', type: 'lvm' });
  expect(read(row('sda', { fstype: 'LVM2_member' }), row('sdb'), volume)).toMatchObject([
    { path: '/dev/sda', usedFor: 'lvm dm-0 is made of it' },
    { path: '/dev/sdb' },
  ]);
});

test('a disk that something is made of is in use', () => {
  const volume = row('dm-0', { pkname: 'sda', type: 'lvm' });
  expect(read(row('sda', { fstype: 'LVM2_member' }), row('sdb'), volume)).toMatchObject([
    { path: '/dev/sda', usedFor: 'lvm dm-0 is made of it' },
    { path: '/dev/sdb' },
  ]);
});

test.each([
  [{ mountpoint: '/srv' }, 'mounted at /srv'],
  [{ mountpoint: '[SWAP]' }, 'swap'],
  [{ ro: true }, 'it is read-only'],
  [{ ro: '1' }, 'it is read-only'],
])('%j is in use', (more, usedFor) => {
  expect(read(row('sda', more))).toMatchObject([{ usedFor }]);
});

test('what is no disk, or has no bytes, is left out, and so is what is made of one', () => {
  expect(
    read(
      row('loop0', { type: 'loop' }),
      row('loop0p1', { type: 'part' }),
      row('sr0', { type: 'rom' }),
      row('zram0', { size: 0 }),
      row('sda'),
      row('dm-0', { pkname: 'sda', type: 'crypt' }),
    ),
  ).toMatchObject([{ path: '/dev/sda' }]);
});

test.each([
  [result(1, '', 'lsblk: no'), 'lsblk: no'],
  [result(0, 'nonsense'), 'no JSON'],
])('what cannot be told is an error', (answer, message) => {
  expect(() => readOffered(answer)).toThrow(ObservationError);
  expect(() => readOffered(answer)).toThrow(message);
});

test('as util-linux 2.38 prints them, of a node with LVM', () => {
  const none = { fstype: null, uuid: null, pttype: null, mountpoint: null };
  const plain = { size: 318767104, ro: false, model: null, ...none };
  const disk = { ...plain, pkname: null, type: 'disk', model: 'QEMU HARDDISK' };
  const printed = {
    blockdevices: [
      { kname: 'sdb', ...disk, fstype: 'ext4', uuid: 'b5a1b1c0-0000-4000-8000-00000000abcd' },
      { kname: 'sdc', ...disk, pttype: 'gpt' },
      { kname: 'sdc1', ...plain, pkname: 'sdc', type: 'part', pttype: 'gpt' },
      { kname: 'sdd', ...disk, fstype: 'LVM2_member', uuid: 'MxSopC-2rnp' },
      { kname: 'dm-1', ...plain, pkname: 'sdd', type: 'lvm' },
      { kname: 'dm-2', ...plain, pkname: 'dm-1', type: 'lvm' },
      { kname: 'nvme0n1', ...disk, model: 'QEMU NVMe Ctrl', fstype: 'ext4', uuid: 'u', mountpoint: '/' },
    ],
  };
  const shown = readOffered(result(0, JSON.stringify(printed))).map(
    ({ path, carries, usedFor }) => [path, carries, usedFor] as const,
  );
  expect(shown).toEqual([
    ['/dev/sdb', 'ext4:b5a1b1c0-0000-4000-8000-00000000abcd', undefined],
    ['/dev/sdc', 'gpt', 'it has partitions'],
    ['/dev/sdc1', undefined, undefined],
    ['/dev/sdd', 'LVM2_member:MxSopC-2rnp', 'lvm dm-1 is made of it'],
    ['/dev/nvme0n1', 'ext4:u', 'mounted at /'],
  ]);
});
