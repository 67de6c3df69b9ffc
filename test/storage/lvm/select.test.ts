import { expect, test } from '@jest/globals';
import { inGroup } from '../../../src/storage/lvm/select.ts';

test.each([
  ['lvcreate', '--name', 'data1', 'vg0'],
  ['lvextend', '--extents', '9', 'vg0/data1'],
  ['lvremove', '--yes', 'vg0/data1'],
  ['lvrename', 'vg0', 'a', 'b'],
  ['lvchange', '--addtag', 'x', 'vg0/data1'],
  ['sh', '-c', 'text', 'stowage-thin', 'text', 'vg0/data1'],
])('inGroup flushes the disks of the volume group after %s %s, as LVM does not', (...argv) => {
  const step = { name: 'change it', argv, preconditions: [] };
  const plan = inGroup({ steps: [step] }, { disks: ['/dev/sda', '/dev/sdb'] });
  const flushed = 'steps' in plan ? plan.steps[1]?.argv : undefined;
  expect(flushed).toEqual(['sync', '/dev/sda', '/dev/sdb']);
});

test.each([
  ['lvchange', '--activate', 'y', 'vg0/data1'],
  ['lvchange', '--refresh', 'vg0/data1'],
  ['mkfs.ext4', '/dev/vg0/data1'],
  ['sh', '-c', 'text', 'stowage-image', 'text', '/dev/vg0/data1'],
])('inGroup flushes no disks after %s %s', (...argv) => {
  const plan = inGroup(
    { steps: [{ name: 'use it', argv, preconditions: [] }] },
    { disks: ['/dev/sda'] },
  );
  expect('steps' in plan && plan.steps).toHaveLength(1);
});
