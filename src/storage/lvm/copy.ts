import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import type { DesiredLvm, ObservedLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { change, printed, refresh, sameVolume } from './lvchange.ts';
import { isUnfinished, lvName, tagOf, unfinishedTag } from './names.ts';
import { poolOf } from './pool.ts';
import { lvremove } from './remove.ts';

/**
 * Copy of a thin logical volume: a thin snapshot that becomes a snapshot or a volume of its own.
 */
export interface Copy {
  vgName: string;
  name: string;
  /** UID of the owner: a snapshot content or a Volume. */
  uid: string;
}

/**
 * Takes the thin snapshot. The kernel freezes a mounted file system for that moment.
 * @param originUid UID in the origin's tag
 * @param preconditions further preconditions of the step
 */
export const takeCopy = (
  copy: Copy,
  origin: LogicalVolume,
  originUid: string,
  permission: 'r' | 'rw',
  preconditions: readonly Precondition[],
): Step => ({
  name: `create ${lvName(copy, copy.name)}, a thin snapshot of ${lvName(copy, origin.name)}`,
  argv: scriptArgv(
    'stowage-thin',
    ...[lvName(copy, origin.name), originUid, copy.name, copy.uid, permission],
  ),
  preconditions: [...preconditions, sameVolume(copy, origin)],
  // Another LVM command may have kept lvcreate waiting for too long.
  failureMeansConflict: true,
});

/** Gives the copy's file system its own UUID before udev can see it, and grows it to the volume. */
export const identify = (copy: Copy): Step => ({
  name: `set a new UUID of the file system in ${lvName(copy, copy.name)}`,
  argv: scriptArgv('stowage-lvm-uuid', lvName(copy, copy.name), copy.uid),
  preconditions: [unfinished(copy)],
});

/** Marks the copy as whole: replaces the unfinished tag by the owner's. */
export const finish = (copy: Copy, ...options: string[]): Step => ({
  ...change(
    copy,
    copy.name,
    'finish',
    ...options,
    ...['--deltag', unfinishedTag(copy.uid), '--addtag', tagOf(copy.uid)],
  ),
  preconditions: [unfinished(copy)],
});

/** Precondition that the logical volume has only the unfinished tag of this owner. */
export const unfinished = (copy: Copy): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(copy, copy.name)],
  expect: { exit: 0, stdout: { ...printed(unfinishedTag(copy.uid)), lacks: ',' } },
  ...refuse('UnfinishedChanged', { volume: lvName(copy, copy.name) }),
});

/** Returns the remains of an earlier attempt, by their tag. */
export const unfinishedIn = (
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  uid: string,
): LogicalVolume | undefined => volumes.find((each) => isUnfinished(each, uid));

/**
 * Removes the remains of an earlier attempt. A killed lvcreate may have left the pool and the
 * origin suspended. The unfinished copy shows that Stowage did so: both are resumed first.
 */
export function removeUnfinished(
  { vgName, uid }: Pick<Copy, 'vgName' | 'uid'>,
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  left: LogicalVolume,
): Step[] {
  const origin = volumes.find(({ name }) => name === left.origin);
  const stuck = [poolOf({ volumes }, left.pool), origin].filter((each) => each?.suspended);
  return [
    ...stuck.flatMap((each) => (each === undefined ? [] : [refresh({ vgName }, each)])),
    {
      name: `remove the temporary device of ${lvName({ vgName }, left.name)}`,
      argv: scriptArgv('stowage-lvm-uuid', lvName({ vgName }, left.name), uid, 'leave'),
      preconditions: [sameVolume({ vgName }, left)],
    },
    lvremove({ vgName }, left, unfinishedTag(uid)),
  ];
}

/** Removes the remains of an earlier attempt to make a Volume from a copy. */
export const leaveUnfinished = (desired: DesiredLvm, observed: ObservedLvm): Step[] => {
  const left = unfinishedIn(observed, desired.uid);
  return left === undefined ? [] : removeUnfinished(desired, observed, left);
};
