import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { notOpenPreconditions } from '../block/preconditions.ts';
import type { DeviceFacts } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { type InGroup, sameVolume } from './lvchange.ts';
import { lvName } from './names.ts';

/**
 * Kinds of logical volumes whose removal removes no other: plain, thin, RAID, mirrors and caches.
 */
export const ALONE = ['-', 'V', 'r', 'R', 'm', 'M', 'C'];

/**
 * Removes a logical volume. `--yes` answers whether to discard its blocks. Under its lock, LVM
 * removes only an inactive volume with this UUID and tag, of a kind in `ALONE`. An origin would
 * take its snapshots with it.
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

/** Precondition that the logical volume is gone: lvremove also succeeds if it selects none. */
export const isGone = ({ vgName }: InGroup, own: LogicalVolume): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_uuid', '--select', `lv_uuid=${own.uuid}`, vgName],
  expect: { exit: 0, stdout: { has: '', lacks: own.uuid } },
  ...refuse('LogicalVolumeStays', { volume: lvName({ vgName }, own.name) }),
});

/**
 * Checks that the device is not open. Runs before the step with the lock, which opens the device.
 */
export function notOpen(device: DeviceFacts): Step {
  return {
    name: `check that /dev/${device.name} is not open`,
    argv: ['true'],
    preconditions: notOpenPreconditions(device),
  };
}
