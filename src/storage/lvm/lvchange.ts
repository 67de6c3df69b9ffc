import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import type { DesiredLvm } from '../types.ts';
import type { LogicalVolume, VolumeGroup } from './facts.ts';
import { lvName } from './names.ts';

export type InGroup = Pick<DesiredLvm, 'vgName'>;

/** Changes a logical volume of the group with lvchange. */
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
 * Returns the expected `lvs` output for one field of one logical volume. LVM may also print
 * "Retrying metadata scan." while a disk of the group has truncated metadata. Requiring silence
 * would never succeed, since LVM repairs the metadata only when it writes.
 */
export const printed = (field: string) => ({ has: `  ${field}`, lacks: '\t' });

/** Precondition that the name still refers to the observed logical volume. */
export const sameVolume = (desired: InGroup, { name, uuid }: LogicalVolume): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_uuid', lvName(desired, name)],
  expect: { exit: 0, stdout: printed(uuid) },
  ...refuse('LogicalVolumeChanged', { volume: lvName(desired, name) }),
});

/** Precondition that the name still refers to the observed volume group. */
export const sameGroup = ({ name, uuid }: Pick<VolumeGroup, 'name' | 'uuid'>): Precondition => ({
  argv: ['vgs', '--noheadings', '-o', 'vg_uuid', name],
  expect: { exit: 0, stdout: printed(uuid) },
  ...refuse('VolumeGroupChanged', { group: name, uuid }),
});

/**
 * Resumes a logical volume or thin pool that an interrupted LVM command left suspended, and runs
 * the udev rules that the command suppressed.
 */
export const refresh = (desired: InGroup, own: LogicalVolume): Step => ({
  ...change(desired, own.name, 'refresh', '--refresh'),
  preconditions: [sameVolume(desired, own)],
});
