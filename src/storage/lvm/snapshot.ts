import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, ObservationError } from '../probe-results.ts';
import { readRecords, recordProbes } from '../records.ts';
import type { DesiredLvm, ObservedLvm, Plan, Refusal } from '../types.ts';
import { deactivate } from './activate.ts';
import { finish, removeUnfinished, takeCopy, unfinishedIn } from './copy.ts';
import type { LogicalVolume } from './facts.ts';
import {
  groupOf,
  knownGroup,
  recordedFirst,
  recordedGroup,
  refuseChange,
  twoGroups,
} from './group.ts';
import { isTagged, lvName, tagOf } from './names.ts';
import { ownOf, whose } from './ownership.ts';
import { poolOf } from './pool.ts';
import { refuseWrites, written } from './refuse.ts';
import { lvremove } from './remove.ts';
import { groupProbes, readGroups, readVolumes, volumesProbe } from './report.ts';
import { withRoom } from './room.ts';
import { inGroup } from './select.ts';
import type { View } from './view.ts';

/** A thin snapshot of a volume's thin logical volume, in the same pool. */
export interface DesiredThinSnapshot {
  type: 'lvm';
  /** Of the content: what it is tagged with. */
  uid: string;
  vgName: string;
  /** Of the logical volume that it is. */
  name: string;
  /** The volume that it is of; undefined where it is only looked at or deleted. */
  volume: DesiredLvm | undefined;
}

export interface ObservedThinSnapshot extends Pick<ObservedLvm, 'groups' | 'volumes' | 'done'> {
  type: 'lvm';
}

/** They read only. */
export const thinProbes = ({ uid, vgName, volume }: DesiredThinSnapshot, view: View): Probe[] => [
  ...groupProbes(view),
  volumesProbe(view, vgName),
  ...recordProbes(volume?.uid ?? uid),
];

/** @throws ObservationError where LVM does not tell of the group: what is in it is not known then, and not missing */
export function readThin(
  { vgName, volume }: DesiredThinSnapshot,
  view: View,
  results: ReadonlyMap<string, ProbeResult>,
): ObservedThinSnapshot {
  const get = answersOf(results);
  const { intent, done } = readRecords(get);
  const recorded = recordedGroup({ identity: volume?.identity }, intent);
  const groups = recordedFirst(readGroups(get, view, vgName), recorded);
  if (groups.length === 0)
    throw new ObservationError(`there is no volume group ${vgName} on the node`);
  const group = knownGroup(groups, recorded);
  if (group === undefined) {
    const { refusal, hint } = twoGroups(vgName, groups);
    throw new ObservationError(`${refusal}. ${hint}`);
  }
  return { type: 'lvm', groups, volumes: readVolumes(get('logical volumes'), group), done };
}

/** For how many bytes a volume is made that starts from it; undefined where it is not there, whole. */
export const thinBytes = (
  { uid, name }: DesiredThinSnapshot,
  { volumes }: ObservedThinSnapshot,
): bigint | undefined => volumes.find((each) => isWhole(each, uid, name))?.sizeBytes;

const isWhole = (each: LogicalVolume, uid: string, name: string): boolean =>
  each.name === name && each.kind === 'V' && isTagged(each, uid);

/** What remains to be done until the snapshot is there (`take`), or nothing of it is (`delete`); or why it can't be. Pure. */
export function planThinSnapshot(
  operation: 'take' | 'delete',
  desired: DesiredThinSnapshot,
  observed: ObservedThinSnapshot,
): Plan {
  const { uid, name, vgName } = desired;
  const [group] = observed.groups;
  if (group === undefined) throw new Error(`${vgName} was not looked at`);
  const there = observed.volumes.find((each) => each.name === name);
  if (operation === 'take' && there !== undefined && isWhole(there, uid, name))
    return { steps: [] };
  const refused = refuseChange(group);
  if (refused !== undefined) return refused;
  return inGroup(change(operation, desired, observed, there), group);
}

function change(
  operation: 'take' | 'delete',
  desired: DesiredThinSnapshot,
  observed: ObservedThinSnapshot,
  there: LogicalVolume | undefined,
): Plan {
  const { uid, name } = desired;
  const left = unfinishedIn(observed, uid);
  if (left !== undefined) return { steps: removeUnfinished(desired, observed, left) };
  if (there !== undefined && !isWhole(there, uid, name)) {
    return {
      refusal: `there is a logical volume ${lvName(desired, name)}, and nothing says that it is the snapshot ${uid}`,
      hint: `If it is, say so on the node: lvchange --addtag ${tagOf(uid)} ${lvName(desired, name)}. Else rename it.`,
    };
  }
  if (operation === 'take') return take(desired, observed);
  return there === undefined ? { steps: [] } : remove(desired, there);
}

function take(desired: DesiredThinSnapshot, observed: ObservedThinSnapshot): Plan {
  const { uid, volume } = desired;
  if (volume === undefined) throw new Error(`it is not known which volume ${uid} is of`);
  const own = originOf(volume, observed);
  if ('refusal' in own) return own;
  // What its owner overwrites from now on takes room of its own.
  const most = written(own.sizeBytes);
  const needed = most < own.sizeBytes ? most : own.sizeBytes;
  const full = refuseWrites(
    desired,
    own.pool ?? '',
    observed,
    needed,
    `a snapshot is taken where there are ${needed}, as what is written from then on takes new ones`,
  );
  if (full !== undefined) return full;
  return {
    steps: [
      withRoom(desired, observed, own.pool, needed, takeCopy(desired, own, volume.uid, 'r', [])),
      finish(desired),
    ],
  };
}

/** The logical volume of the volume, or why there is no snapshot of it. */
function originOf(volume: DesiredLvm, observed: ObservedThinSnapshot): LogicalVolume | Refusal {
  const group = groupOf(volume, { groups: observed.groups, intent: undefined });
  if ('refusal' in group) return group;
  const own = ownOf(volume, observed.volumes);
  const name = lvName(volume, own?.name ?? volume.name);
  if (own === undefined || whose(volume, observed, own) !== 'ours') {
    return {
      refusal: `the logical volume ${name} of ${volume.name} ${own === undefined ? 'is missing' : 'is not the one that was made for it'}`,
      hint: 'Bring it back (vgcfgrestore, if it was removed). Nothing is taken of another.',
    };
  }
  if (own.pool === undefined || own.kind !== 'V') {
    return {
      refusal: `${name} is no thin volume (lvs shows it as ${own.kind}), and only those have snapshots`,
      hint: 'Copy its data within a pod, to a volume of a class with a thinPool.',
    };
  }
  const pool = poolOf(observed, own.pool);
  const waits = (refusal: string): Refusal => ({
    refusal,
    hint: 'The snapshot is taken once that is over.',
    retryable: true,
  });
  if (!isTagged(own, volume.uid)) return waits(`${name} has no tag of Stowage's yet`);
  if (own.health === 'p' || own.health === 'F')
    return waits(`${name} is not well (lvs shows ${own.health})`);
  if (own.suspended || pool?.suspended) {
    return waits(
      `${name} or its thin pool is suspended: an LVM command is at work, or was interrupted`,
    );
  }
  const made = observed.done?.sizeBytes;
  if (made !== undefined && made < own.sizeBytes) {
    return waits(`${name} is larger than what was made in it: it is being grown`);
  }
  return own;
}

/** By its UUID and its tag it is what was asked to be deleted. Volumes that were made from it share nothing but blocks with it. */
function remove(desired: DesiredThinSnapshot, own: LogicalVolume): Plan {
  if (own.open) {
    return {
      refusal: `the snapshot ${lvName(desired, own.name)} is in use: a process has it open, or it is mounted`,
      hint: 'It is removed once nothing uses it any more.',
      retryable: true,
    };
  }
  return {
    steps: [
      // Somebody looked into it.
      ...(own.active ? [deactivate(desired, own)] : []),
      lvremove(desired, own, tagOf(desired.uid)),
    ],
  };
}
