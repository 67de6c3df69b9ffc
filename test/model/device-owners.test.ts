import { expect, test } from '@jest/globals';
import { withDeviceOwners } from '../../src/model/device-owners.ts';
import { plan } from '../../src/storage/plan.ts';
import type { DeviceFacts } from '../../src/storage/types.ts';
import { begun, dm, lvmDesired } from '../support/lvm-input.ts';
import { disk, rawDesired, rawNode } from '../support/raw-input.ts';
import { readyNode, UID, volume } from '../support/volume-input.ts';

const OTHER = '11111111-2222-4333-8444-555555555555';
const old = { ...volume(), metadata: { name: 'old1', uid: OTHER } };
const mine = { ...volume(), metadata: { name: 'data1', uid: UID } };
const carrying = (uuid: string): DeviceFacts => ({
  ...disk,
  signature: { found: 'one', type: 'ext4', uuid },
  content: `ext4:${uuid}`,
  uuids: [uuid],
});
const known = (uid: string) => [mine, old].find(({ metadata }) => metadata.uid === uid);
const never = () => {
  throw new Error('asked');
};

test('a device with the filesystem of another Volume is refused despite overwrite consent', () => {
  const observed = withDeviceOwners(rawNode(carrying(OTHER)), UID, known);
  expect(
    plan('provision', { ...rawDesired, overwrite: `ext4:${OTHER}` }, observed, 0),
  ).toMatchObject({
    refusal: '/dev/sdb belongs to another Volume, old1',
  });
});

test('a device tagged for another Volume is refused, also for a Volume on LVM', () => {
  const tagged: DeviceFacts = { ...dm, uuids: [OTHER] };
  const raw = withDeviceOwners(rawNode(tagged), UID, known);
  expect(plan('provision', { ...rawDesired, mode: 'Block' }, raw, 0)).toMatchObject({
    refusal: '/dev/dm-3 belongs to another Volume, old1',
  });
  expect(
    plan('provision', lvmDesired, withDeviceOwners(begun(tagged), UID, known), 0),
  ).toMatchObject({
    refusal: '/dev/dm-3 belongs to another Volume, old1',
  });
});

test('the UUID of the Volume itself, or of no Volume, has no other owner', () => {
  for (const uuid of [UID, 'abcd']) {
    expect(withDeviceOwners(rawNode(carrying(uuid)), UID, known)).toMatchObject({ others: [] });
  }
});

test('the owner of an empty device is not queried', () => {
  expect(withDeviceOwners(rawNode(disk), UID, never)).toMatchObject({ others: [] });
  expect(withDeviceOwners(readyNode, UID, never)).toBe(readyNode);
});
