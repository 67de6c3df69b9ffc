import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { notOpenPreconditions } from '../block/preconditions.ts';
import type { DeviceFacts } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { type InGroup, sameVolume } from './lvchange.ts';
import { lvName } from './names.ts';

/** Those of which removing one removes nothing else: plain, thin, and what LVM makes of them (RAID, mirrors, caches). */
export const ALONE = ['-', 'V', 'r', 'R', 'm', 'M', 'C'];

/**
 * LVM is told yes, as it may ask whether to discard. Under its lock it only removes what still has that UUID and that tag,
 * is of one of these kinds (a snapshot would go with its origin), and is not active.
 */
export const lvremove = (group: InGroup, own: LogicalVolume, tag: string): Step => ({
  name: `remove the logical volume ${lvName(group, own.name)}`,
  argv: [
    ...['lvremove', '--yes', '--select'],
    `lv_uuid=${own.uuid}&&lv_tags={${tag}}&&lv_attr=~^[${ALONE.join('')}]...-`,
    lvName(group, own.name),
  ],
  preconditions: [sameVolume(group, own)],
});

/** What is not selected is not removed, which lvremove does not call a failure. */
export const isGone = ({ vgName }: InGroup, own: LogicalVolume): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_uuid', '--select', `lv_uuid=${own.uuid}`, vgName],
  expect: { exit: 0, stdout: { has: '', lacks: own.uuid } },
  ...refuse('LogicalVolumeStays', { volume: lvName({ vgName }, own.name) }),
});

/** Before the lock, which is held by opening the device. */
export function notOpen(device: DeviceFacts): Step {
  return {
    name: `look whether /dev/${device.name} is open`,
    argv: ['true'],
    preconditions: notOpenPreconditions(device),
  };
}
