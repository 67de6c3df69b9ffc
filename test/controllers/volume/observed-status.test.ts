import { expect, test } from '@jest/globals';
import type { VolumeStatus } from '../../../src/api/volume.ts';
import { observedStatus } from '../../../src/controllers/volume/observed-status.ts';
import { desiredOf } from '../../../src/model/desired-volume.ts';
import type { ObservedSparse } from '../../../src/storage/types.ts';
import { BY_PARTUUID, BY_UUID, LINK } from '../../support/link-words.ts';
import { dm, lvmMade, lvmNode } from '../../support/lvm-input.ts';
import { disk, rawDesired, rawMade } from '../../support/raw-input.ts';
import { FILE, madeNode, readyNode, UID, volume } from '../../support/volume-input.ts';

const prepared = { node: 'n2', paths: [FILE], identity: `ext4 ${UID}` };

test.each<[string, VolumeStatus, 'Filesystem' | 'Block', ObservedSparse, object]>([
  [
    'a device: its name, its size, its path',
    {},
    'Filesystem',
    readyNode,
    { deviceName: 'loop3', capacity: '1Gi', devicePath: LINK, attempt: 1, prepared },
  ],
  [
    'a device of an earlier version: its path stays',
    { devicePath: BY_UUID },
    'Filesystem',
    readyNode,
    { deviceName: 'loop3', devicePath: BY_UUID },
  ],
  [
    'a device, and a foreign path in the status',
    { devicePath: '/dev/sda' },
    'Filesystem',
    readyNode,
    { deviceName: 'loop3', devicePath: LINK },
  ],
  [
    'no device, in mode Block of an earlier version: its path stays',
    { devicePath: BY_PARTUUID },
    'Block',
    madeNode,
    { deviceName: undefined, devicePath: BY_PARTUUID },
  ],
  [
    'no device after provisioning: the file size, the future path and the node',
    { attempt: 3 },
    'Filesystem',
    { ...madeNode, file: { type: 'file', sizeBytes: 3n << 29n, inode: '42' } },
    { deviceName: undefined, capacity: '1536Mi', devicePath: LINK, attempt: 3, prepared },
  ],
  [
    'no device in mode Block: the provisioned size, though the file is longer',
    {},
    'Block',
    { ...madeNode, file: { type: 'file', sizeBytes: 3n << 30n, inode: '42' } },
    { deviceName: undefined, capacity: '1Gi', devicePath: LINK },
  ],
  [
    'no device in mode Block, without a record: the requested size',
    {},
    'Block',
    {
      ...madeNode,
      done: undefined,
      intent: undefined,
      file: { type: 'file', sizeBytes: 3n << 30n, inode: '1' },
    },
    { capacity: '1Gi' },
  ],
  [
    'no device after there was one: unchanged values',
    {
      capacity: '7Gi',
      devicePath: '/dev/disk/by-id/dm-uuid-LVM-x',
      prepared: { ...prepared, node: 'n1' },
    },
    'Filesystem',
    madeNode,
    {
      deviceName: undefined,
      capacity: '7Gi',
      devicePath: '/dev/disk/by-id/dm-uuid-LVM-x',
      prepared: { ...prepared, node: 'n1' },
    },
  ],
])('the status is set with %s', (_, status, mode, observed, expected) => {
  const made = volume(status);
  const whole = { ...made, spec: { ...made.spec, mode } };
  expect(
    observedStatus({ volume: whole, node: 'n2' }, observed, desiredOf(whole, undefined)),
  ).toMatchObject(expected);
});

test('a logical volume of an earlier version keeps its path, even without a device', () => {
  const devicePath = '/dev/disk/by-id/dm-uuid-LVM-x';
  const { sparseLoopDevice: _, ...spec } = volume().spec;
  const whole = {
    ...volume({ devicePath, capacity: '1Gi' }),
    spec: { ...spec, mode: 'Block' as const, lvmLogicalVolume: { vgName: 'vg0', size: '2Gi' } },
  };
  const fields = observedStatus(
    { volume: whole, node: 'n1' },
    lvmNode(),
    desiredOf(whole, undefined),
  );
  expect(fields).toMatchObject({ deviceName: undefined, devicePath, capacity: '1Gi' });
  const there = observedStatus(
    { volume: whole, node: 'n1' },
    lvmMade(dm),
    desiredOf(whole, undefined),
  );
  expect(there).toMatchObject({ deviceName: 'dm-3', devicePath });
});

test.each([
  [
    'spelled differently',
    'wwn=naa.5000c500a1b2c3d4 serial=S_1 size=5',
    'wwn=0x5000c500a1b2c3d4 serial=S1 size=1073741824',
  ],
  ['without proof of identity', 'serial=S1 size=5', 'serial=S1 size=5'],
])('the identity of a disk %s is replaced only if equivalent', (_, recorded, expected) => {
  const { sparseLoopDevice: __, ...spec } = volume().spec;
  const status = { prepared: { node: 'n1', paths: [rawDesired.devicePath], identity: recorded } };
  const whole = {
    ...volume(status),
    spec: { ...spec, rawBlockDevice: { devicePath: rawDesired.devicePath } },
  };
  const identity = 'wwn=0x5000c500a1b2c3d4 serial=S1 size=1073741824';
  const fields = observedStatus(
    { volume: whole, node: 'n1' },
    rawMade({ ...disk, identity }),
    desiredOf(whole, undefined),
  );
  expect(fields).toMatchObject({ prepared: { identity: expected } });
});
