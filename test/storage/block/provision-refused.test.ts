import { describe, expect, test } from '@jest/globals';
import { type ReasonCode, reason } from '../../../src/api/reasons.ts';
import type { DesiredRaw, DeviceFacts, ObservedRaw } from '../../../src/storage/types.ts';
import {
  disk,
  intentFor,
  logical,
  PARTUUID,
  partition,
  rawBlock,
  rawDesired,
  rawNode,
} from '../../support/raw-input.ts';
import { loop } from '../../support/volume-input.ts';
import { carrying, made, OTHER, xfs } from './provision-cases.ts';

describe('provisioning a device with consent', () => {
  const facts = carrying(`gpt:${OTHER};1=ext4:${OTHER}`);
  const [part = disk] = facts.partitions;
  const holder = { ...logical, name: 'dm-1', parent: 'sdb' };
  const stacked = { ...loop, name: 'loop4', backingFile: '/dev/sdb' };
  const other = intentFor(disk, { uid: OTHER });
  const cases: [string, DeviceFacts, Partial<ObservedRaw>, RegExp, ReasonCode, DesiredRaw?][] = [
    [
      'mounted',
      facts,
      { mounts: new Map([['8:16', ['/a', '/b']]]) },
      /sdb is in use: mounted at \/a, \/b$/,
      'DeviceNotFree',
    ],
    [
      'a partition mounted',
      facts,
      { mounts: new Map([['8:17', ['/a']]]) },
      /sdb1 is in use: mounted at \/a$/,
      'DeviceNotFree',
    ],
    [
      'mounted by another path of the disk',
      { ...facts, otherPaths: [{ ...disk, name: 'sdc', device: '8:32' }] },
      { mounts: new Map([['8:32', ['/a']]]) },
      /sdc, another path of the disk of \/dev\/sdb, is in use: mounted at \/a$/,
      'DeviceNotFree',
    ],
    [
      'the serial number of the disk of another Volume, and no WWN',
      { ...facts, identity: 'serial=S1 size=1073741824', presence: undefined },
      { others: [other] },
      /sdb may belong to another Volume, .*5555: their disks have the same serial number or WWN/,
      'DeviceMaybeOfAnother',
    ],
    [
      'a holder',
      facts,
      { devices: [facts, part, holder] },
      /held by \/dev\/dm-1 \(lvm\)$/,
      'DeviceNotFree',
    ],
    [
      'a holder of a partition',
      facts,
      { devices: [facts, part, { ...holder, parent: 'sdb1' }] },
      /sdb1 is in use: held by \/dev\/dm-1 \(lvm\)$/,
      'DeviceNotFree',
    ],
    ['a stacked loop', facts, { loops: [stacked] }, /held by \/dev\/loop4$/, 'DeviceNotFree'],
    [
      'a map of multipathd',
      { ...facts, wwn: '0x5000c500a1b2c3d4' },
      { devices: [facts, part, { ...holder, type: 'mpath' }] },
      /sdb is in use: held by \/dev\/dm-1 \(mpath\)$/,
      'MultipathUsesDisk',
    ],
    ['swap', facts, { swaps: ['/dev/sdb'] }, /it is swap$/, 'DeviceNotFree'],
    [
      'a partition that is swap',
      facts,
      { swaps: ['/dev/sdb1'] },
      /sdb1 is in use: it is swap$/,
      'DeviceNotFree',
    ],
    ['read-only', { ...facts, readOnly: true }, {}, /sdb is read-only$/, 'DeviceReadOnly'],
    ['no medium', { ...facts, sizeBytes: 0n }, {}, /has no usable medium$/, 'DeviceWithoutMedium'],
    ['a CD', { ...facts, type: 'rom' }, {}, /has no usable medium$/, 'DeviceWithoutMedium'],
    [
      "another Volume's file system",
      { ...facts, uuids: [OTHER] },
      { others: [other] },
      /another Volume.*5555$/,
      'DeviceOfAnother',
    ],
    [
      "another Volume's file system, of which the node has no record",
      { ...facts, uuids: [OTHER] },
      { others: [{ uid: OTHER, name: 'old1' }] },
      /sdb belongs to another Volume, old1$/,
      'DeviceOfAnother',
    ],
    [
      "another Volume's partition",
      carrying('ext4:x', { ...partition, uuids: ['y', OTHER] }),
      { others: [other] },
      /sdb2 belongs to another Volume/,
      'DeviceOfAnother',
    ],
    [
      "another Volume's logical volume",
      carrying('ext4:x', logical),
      { others: [intentFor(logical, { uid: OTHER })] },
      /dm-0 belongs to another Volume/,
      'DeviceOfAnother',
    ],
    [
      'a device recorded for another Volume, without its content',
      { ...facts, uuids: [] },
      { others: [intentFor(disk, { uid: OTHER })] },
      /sdb belongs to another Volume/,
      'DeviceOfAnother',
    ],
    [
      'the disk is mounted',
      partition,
      { mounts: new Map([['8:16', ['/a']]]) },
      /sdb is in use: mounted at \/a$/,
      'DeviceNotFree',
    ],
    [
      'a loop stacked on the disk',
      partition,
      { loops: [stacked] },
      /sdb is in use: held by \/dev\/loop4$/,
      'DeviceNotFree',
    ],
    [
      'too small',
      { ...disk, sizeBytes: 1n << 20n },
      {},
      /has 1048576 bytes, and a Volume needs at least 4194304/,
      'DeviceTooSmall',
    ],
    [
      'a path that is derived from content',
      facts,
      {},
      /vanishes with it$/,
      'DeviceNamedByContent',
      { ...rawDesired, devicePath: `/dev/disk/by-uuid/${OTHER}` },
    ],
    [
      'a table that was changed since the kernel read it, in mode Block',
      { ...partition, partition: { number: 2, inTable: 1, scheme: 'gpt', uuid: PARTUUID } },
      {},
      /as partition 2, but the partition table has partition 1 in its place$/,
      'PartitionTableUnread',
      rawBlock,
    ],
    [
      'a partition of an MBR, in mode Block',
      carrying('ext4:x', {
        ...partition,
        partition: { number: 1, inTable: 1, scheme: 'dos', uuid: 'a-01' },
      }),
      {},
      /partition 1 of a table of type dos/,
      'PartitionWithoutGUID',
      rawBlock,
    ],
    ...['tpool', 'pool', 'tdata', 'tmeta', 'real', 'cow'].map(
      (layer): [string, DeviceFacts, object, RegExp, ReasonCode] => [
        `an internal device of LVM (${layer})`,
        { ...logical, dmUuid: `LVM-abc-${layer}` },
        {},
        /is an internal device of LVM \(LVM-abc-/,
        'DeviceInnerOfLVM',
      ],
    ),
    [
      'a map of multipathd, in mode Block',
      carrying('ext4:x', { ...disk, name: 'dm-5', type: 'mpath', mapUuid: 'mpath-360' }),
      {},
      /dm-5 is a multipath map, on which the kernel creates no partitions$/,
      'MultipathMapUndivided',
      rawBlock,
    ],
    [
      'another device-mapper device, in mode Block',
      carrying('ext4:x', { ...logical, dmUuid: 'CRYPT-LUKS2-x' }),
      {},
      /CRYPT-LUKS2-x\), but not a logical volume/,
      'MapperDeviceNotLVM',
      rawBlock,
    ],
    [
      'too small for XFS',
      { ...facts, sizeBytes: (300n << 20n) - 1n },
      {},
      /xfs file system needs at least 314572800 bytes \(300Mi\), and only 314572799 are available$/,
      'FileSystemTooSmall',
      xfs,
    ],
  ];
  test.each(cases)('is refused: %s', (_, found, more, refusal, code, wanted = rawDesired) => {
    const planned = made({ ...wanted, overwrite: found.content }, rawNode(found, more));
    expect(planned).toEqual({
      reason: expect.objectContaining({ code }),
      refusal: expect.stringMatching(refusal),
      hint: expect.any(String),
    });
  });

  test.each<[string, ObservedRaw['target'], RegExp, ReasonCode]>([
    [
      'no device',
      { is: 'missing' },
      /^there is no device \/dev\/disk\/by-id\/wwn-0x5000 on the node$/,
      'DeviceMissing',
    ],
    [
      'a file',
      { is: 'other', what: 'regular file' },
      / is a regular file, not a disk, partition or logical volume$/,
      'NoBlockDevice',
    ],
  ])('is refused, like attaching: %s', (_, target, refusal, code) => {
    for (const operation of ['provision', 'attach'] as const) {
      expect(made(rawDesired, { ...rawNode(disk), target }, operation)).toMatchObject({
        reason: { code },
        refusal: expect.stringMatching(refusal),
      });
    }
  });

  test('accepts 300 MiB for an XFS', () => {
    expect(made(xfs, rawNode({ ...disk, sizeBytes: 300n << 20n }))).toHaveProperty('steps');
  });
});

test('a missing device is a permanent failure unless provisioning has begun on it', () => {
  const missing = rawNode(disk, { target: { is: 'missing' } });
  expect(made(rawDesired, missing)).toMatchObject({ retryable: false });
  expect(made(rawDesired, { ...missing, intent: intentFor(disk) })).toMatchObject({
    retryable: true,
  });
});

test('the hint for a device mounted at / suggests no command to unmount it', () => {
  const mounted = rawNode(disk, { mounts: new Map([[disk.device, ['/']]]) });
  expect(made(rawDesired, mounted)).toMatchObject({
    reason: reason('DeviceNotFree', { device: '/dev/sdb', uses: 'mounted at /' }),
    refusal: expect.stringContaining('mounted at /'),
    hint: expect.not.stringContaining(' run on the node: '),
  });
});
