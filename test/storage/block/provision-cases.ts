import type { Step } from '../../../src/nodes/job.ts';
import { plan } from '../../../src/storage/plan.ts';
import type {
  DesiredRaw,
  DeviceFacts,
  ObservedRaw,
  VolumeOperation,
} from '../../../src/storage/types.ts';
import { disk, rawDesired } from '../../support/raw-input.ts';

/** Raw devices with content, and plans to provision Volumes on them. */

export const OTHER = '11111111-2222-4333-8444-555555555555';
export const xfs: DesiredRaw = { ...rawDesired, fs: { type: 'xfs', options: ['-K'] } };
export function carrying(content: string, base: DeviceFacts = disk): DeviceFacts {
  const [type = '', uuid] = content.split(/[:;+]/);
  return {
    ...base,
    content,
    signature: content.startsWith('ambivalent')
      ? { found: 'ambivalent' }
      : content.startsWith('no table')
        ? { found: 'none' }
        : { found: 'one', type, ...(uuid === undefined ? {} : { uuid }) },
    printed: {
      ...base.printed,
      blkid: `DEVNAME=/dev/sdb\nTYPE=${type}`,
      blkidExit: content.startsWith('ambivalent') ? 8 : 0,
      wipefs: `{"signatures": ["${content}"]}`,
    },
    partitions: /;\d=/.test(content)
      ? [{ ...disk, name: 'sdb1', device: '8:17', parent: 'sdb', type: 'part' }]
      : [],
  };
}
export const made = (
  wanted: DesiredRaw,
  observed: ObservedRaw,
  operation: VolumeOperation = 'provision',
) => plan(operation, wanted, observed, 0);
export function stepsOf(wanted: DesiredRaw, observed: ObservedRaw): readonly Step[] {
  const planned = made(wanted, observed);
  if ('refusal' in planned) throw new Error(planned.refusal);
  return planned.steps;
}
export const commands = (wanted: DesiredRaw, observed: ObservedRaw) =>
  stepsOf(wanted, observed).map(({ argv }) => argv.join(' '));
export const CONTENTS = [
  `ext4:${OTHER}`,
  `xfs:${OTHER}`,
  `btrfs:${OTHER}`,
  'vfat:ABCD-1234',
  'ntfs:01D0C0FFEE000000',
  `swap:${OTHER}`,
  'LVM2_member:AbCdEf-0000',
  'linux_raid_member:aa-bb',
  `crypto_LUKS:${OTHER}`,
  'zfs_member:123456789',
  'ceph_bluestore',
  `gpt:${OTHER};1=ext4:${OTHER}`,
  `gpt:${OTHER}`,
  'dos:abcd1234;1=none',
  'ext4:a+swap:b',
  'ambivalent',
  'no table;1=none',
];
