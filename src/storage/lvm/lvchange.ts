import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import type { DesiredLvm } from '../types.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { lvName } from './names.ts';

export type InGroup = Pick<DesiredLvm, 'vgName'>;

/** A logical volume of the group, changed with lvchange. */
export const change = (
  desired: InGroup,
  name: string,
  what: string,
  ...options: string[]
): Step => ({
  name: `${what} ${lvName(desired, name)}`,
  argv: ['lvchange', ...options, lvName(desired, name)],
  preconditions: [],
});

/**
 * What `lvs` prints of one field of one logical volume. Beside it LVM may say "Retrying metadata scan.", while a disk of the
 * group has metadata that were cut off: to wait for it to be silent is to wait for ever, for it repairs that when it writes.
 */
export const printed = (field: string) => ({ has: `  ${field}`, lacks: '\t' });

/** It is the logical volume that was looked at. */
export const sameVolume = (desired: InGroup, { name, uuid }: LogicalVolume): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_uuid', lvName(desired, name)],
  expect: { exit: 0, stdout: printed(uuid) },
  ...refuse('LogicalVolumeChanged', { volume: lvName(desired, name) }),
});

/** The group that has the name is the one that was looked at. */
export const sameGroup = ({ name, uuid }: Pick<VolumeGroup, 'name' | 'uuid'>): Precondition => ({
  argv: ['vgs', '--noheadings', '-o', 'vg_uuid', name],
  expect: { exit: 0, stdout: printed(uuid) },
  ...refuse('VolumeGroupChanged', { group: name, uuid }),
});

/**
 * Resumes what an interrupted command of LVM left suspended, a thin pool too, and has udev look at what it was told to
 * leave out.
 */
export const refresh = (desired: InGroup, own: LogicalVolume): Step => ({
  ...change(desired, own.name, 'refresh', '--refresh'),
  preconditions: [sameVolume(desired, own)],
});
