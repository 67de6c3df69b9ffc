import type { Step } from '../../nodes/job.ts';
import type { DesiredLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { change, type InGroup, sameVolume } from './lvchange.ts';
import { tagOf } from './names.ts';

const changeOwn = (
  desired: InGroup,
  own: LogicalVolume,
  what: string,
  ...options: string[]
): Step => ({
  ...change(desired, own.name, what, ...options),
  preconditions: [sameVolume(desired, own)],
});

/** Activates a logical volume, also one with the activation skip flag, as thin snapshots have. */
export const activate = (desired: InGroup, own: LogicalVolume): Step =>
  changeOwn(desired, own, 'activate', '--activate', 'y', '--ignoreactivationskip');

/** Deactivates a logical volume. Fails while a process has it open. */
export const deactivate = (desired: InGroup, own: LogicalVolume): Step => ({
  ...changeOwn(desired, own, 'deactivate', '--activate', 'n'),
  failureMeansConflict: true,
});

export const addTag = (desired: DesiredLvm, own: LogicalVolume): Step =>
  changeOwn(desired, own, 'tag', '--addtag', tagOf(desired.uid));

export const takeTag = (desired: DesiredLvm, own: LogicalVolume): Step =>
  changeOwn(desired, own, 'untag', '--deltag', tagOf(desired.uid));
