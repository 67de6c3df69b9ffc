import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { scriptArgv } from '../scripts/scripts.ts';
import type { DesiredLvm, ObservedLvm } from '../types.ts';
import type { LogicalVolume } from './facts.ts';
import { change, printed, refresh, sameVolume } from './lvchange.ts';
import { isUnfinished, lvName, tagOf, unfinishedTag } from './names.ts';
import { poolOf } from './pool.ts';
import { lvremove } from './remove.ts';

/** A copy of a thin logical volume: a thin snapshot of it, which becomes a snapshot or a volume of its own. */
export interface Copy {
  vgName: string;
  name: string;
  /** Whose it is: of a content, or of a Volume. */
  uid: string;
}

/**
 * Takes the thin snapshot. Whatever is mounted or open is frozen for that moment by the kernel.
 * @param originUid what the origin is tagged with
 * @param preconditions what must hold right before
 */
export const takeCopy = (
  copy: Copy,
  origin: LogicalVolume,
  originUid: string,
  permission: 'r' | 'rw',
  preconditions: readonly Precondition[],
): Step => ({
  name: `make ${lvName(copy, copy.name)}, a thin snapshot of ${lvName(copy, origin.name)}`,
  argv: scriptArgv(
    'stowage-thin',
    ...[lvName(copy, origin.name), originUid, copy.name, copy.uid, permission],
  ),
  preconditions: [...preconditions, sameVolume(copy, origin)],
  // Another command of LVM may have kept it waiting for too long.
  failureMeansConflict: true,
});

/** Gives the file system in it the UUID of its own, before it is active and udev can see it, and has it take all of it. */
export const identify = (copy: Copy): Step => ({
  name: `give the file system in ${lvName(copy, copy.name)} a UUID of its own`,
  argv: scriptArgv('stowage-lvm-uuid', lvName(copy, copy.name), copy.uid),
  preconditions: [unfinished(copy)],
});

/** From now on it is whole, and whose its tag says. */
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

/** It is what was just made, and nobody's else. */
export const unfinished = (copy: Copy): Precondition => ({
  argv: ['lvs', '--noheadings', '-o', 'lv_tags', lvName(copy, copy.name)],
  expect: { exit: 0, stdout: { ...printed(unfinishedTag(copy.uid)), lacks: ',' } },
  ...refuse('UnfinishedChanged', { volume: lvName(copy, copy.name) }),
});

/** What an earlier try left, by its tag. */
export const unfinishedIn = (
  { volumes }: Pick<ObservedLvm, 'volumes'>,
  uid: string,
): LogicalVolume | undefined => volumes.find((each) => isUnfinished(each, uid));

/**
 * Removes what an earlier try left. An lvcreate that was killed may have left the pool, and the origin of the copy,
 * suspended: that there is an unfinished copy says that it was ours, and so they are resumed first.
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
      name: `take away the device that was made of ${lvName({ vgName }, left.name)}`,
      argv: scriptArgv('stowage-lvm-uuid', lvName({ vgName }, left.name), uid, 'leave'),
      preconditions: [sameVolume({ vgName }, left)],
    },
    lvremove({ vgName }, left, unfinishedTag(uid)),
  ];
}

/** The same of a volume that was to be one. */
export const leaveUnfinished = (desired: DesiredLvm, observed: ObservedLvm): Step[] => {
  const left = unfinishedIn(observed, desired.uid);
  return left === undefined ? [] : removeUnfinished(desired, observed, left);
};
