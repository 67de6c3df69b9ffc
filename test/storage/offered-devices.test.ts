import { expect, test } from '@jest/globals';
import type { ProbeResult } from '../../src/nodes/job.ts';
import { offeredProbes, readOffered } from '../../src/storage/offered-devices.ts';
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
const NO_LINKS = result(1, '', 'find: ‘/dev/disk/by-path’: No such file or directory');
const offered = (devices: ProbeResult, links = NO_LINKS) =>
  readOffered((name) => (name === 'offered links' ? links : devices));
const read = (...rows: object[]) => offered(result(0, JSON.stringify({ blockdevices: rows })));

test('sudoers allows the probes', () => {
  expect(offeredProbes().map(({ argv }) => may(argv))).toEqual([true, true]);
});

test('readOffered lists disks and partitions with model, size, content and use', () => {
  const part = row('sda1', {
    pkname: 'sda',
    type: 'part',
    fstype: 'xfs',
    uuid: 'u',
    pttype: 'gpt',
  });
  expect(
    read(
      row('sda', { model: 'Fast Disk  ', pttype: 'gpt' }),
      part,
      row('sdb', { size: '2048' }),
      row('sdc', { fstype: 'LVM2_member', uuid: 'v' }),
      row('sdd', { pttype: 'dos' }),
    ),
  ).toEqual([
    {
      path: '/dev/sda',
      links: [],
      model: 'Fast Disk',
      sizeBytes: 1024n,
      carries: 'gpt',
      usedFor: 'has partitions',
    },
    { path: '/dev/sda1', links: [], sizeBytes: 1024n, carries: 'xfs:u' },
    { path: '/dev/sdb', links: [], sizeBytes: 2048n },
    { path: '/dev/sdc', links: [], sizeBytes: 1024n, carries: 'LVM2_member:v' },
    { path: '/dev/sdd', links: [], sizeBytes: 1024n, carries: 'dos' },
  ]);
});

test('a disk with a holder is in use', () => {
  const volume = row('dm-0', { pkname: 'sda', type: 'lvm' });
  expect(read(row('sda', { fstype: 'LVM2_member' }), row('sdb'), volume)).toMatchObject([
    { path: '/dev/sda', usedFor: 'held by lvm dm-0' },
    { path: '/dev/sdb' },
  ]);
});

test.each([
  [{ mountpoint: '/srv' }, 'mounted at /srv'],
  [{ mountpoint: '[SWAP]' }, 'swap'],
  [{ ro: true }, 'read-only'],
  [{ ro: '1' }, 'read-only'],
])('a disk with %j is in use', (more, usedFor) => {
  expect(read(row('sda', more))).toMatchObject([{ usedFor }]);
});

test('readOffered omits other devices, devices without bytes, and devices on disks', () => {
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

test('readOffered lists the stable links of a device, the most descriptive first', () => {
  const id = '/dev/disk/by-id';
  const path = '/dev/disk/by-path';
  const links = [
    `${path}/pci-0000:00:05.0-scsi-0:0:0:0 ../../sda`,
    `${id}/wwn-0x5000c500 ../../sda`,
    `${id}/scsi-0QEMU_QEMU_HARDDISK_S1 ../../sda`,
    `${id}/lvm-pv-uuid-MxSopC ../../sda`,
    `${id}/scsi-1ATA_QEMU_HARDDISK_S1_longer ../../sda`,
    `${path}/pci-0000:00:06.0-part1 ../../vda1`,
    `${id}/nvme-eui.0025 ../../nvme0n1`,
    `${id}/nvme-QEMU_NVMe_Ctrl_S2_and_so_on ../../nvme0n1`,
    `${id}/elsewhere /etc/passwd`,
    `${id}/sub/folder ../../sda`,
  ];
  const rows = ['sda', 'vda1', 'nvme0n1', 'sdb'].map((kname) => row(kname));
  const devices = result(0, JSON.stringify({ blockdevices: rows }));
  expect(offered(devices, result(0, `${links.join('\n')}\n`)).map((each) => each.links)).toEqual([
    [
      `${id}/scsi-0QEMU_QEMU_HARDDISK_S1`,
      `${id}/scsi-1ATA_QEMU_HARDDISK_S1_longer`,
      `${id}/wwn-0x5000c500`,
      `${path}/pci-0000:00:05.0-scsi-0:0:0:0`,
    ],
    [`${path}/pci-0000:00:06.0-part1`],
    [`${id}/nvme-QEMU_NVMe_Ctrl_S2_and_so_on`, `${id}/nvme-eui.0025`],
    [],
  ]);
});

test.each([
  [result(1, '', 'lsblk: no'), 'lsblk: no'],
  [result(0, 'nonsense'), 'cannot parse the output of lsblk'],
])('readOffered throws on output of lsblk that it cannot use', (answer, message) => {
  expect(() => offered(answer)).toThrow(ObservationError);
  expect(() => offered(answer)).toThrow(message);
});

test('readOffered reads the output of util-linux 2.38 on a node with LVM', () => {
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
      {
        kname: 'nvme0n1',
        ...disk,
        model: 'QEMU NVMe Ctrl',
        fstype: 'ext4',
        uuid: 'u',
        mountpoint: '/',
      },
    ],
  };
  const shown = offered(result(0, JSON.stringify(printed))).map(
    ({ path, carries, usedFor }) => [path, carries, usedFor] as const,
  );
  expect(shown).toEqual([
    ['/dev/sdb', 'ext4:b5a1b1c0-0000-4000-8000-00000000abcd', undefined],
    ['/dev/sdc', 'gpt', 'has partitions'],
    ['/dev/sdc1', undefined, undefined],
    ['/dev/sdd', 'LVM2_member:MxSopC-2rnp', 'held by lvm dm-1'],
    ['/dev/nvme0n1', 'ext4:u', 'mounted at /'],
  ]);
});
