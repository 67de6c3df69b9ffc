import { type Refused, refuse } from '../../api/reasons.ts';
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

/** Thin snapshot of a volume's thin logical volume, in the same pool. */
export interface DesiredThinSnapshot {
  type: 'lvm';
  /** UID of the content, which the tag names. */
  uid: string;
  vgName: string;
  /** Name of the snapshot's logical volume. */
  name: string;
  /** Source volume; undefined for an observation or a deletion. */
  volume: DesiredLvm | undefined;
}

export interface ObservedThinSnapshot extends Pick<ObservedLvm, 'groups' | 'volumes' | 'done'> {
  type: 'lvm';
}

/** Returns the probes of a snapshot, which only read. */
export const thinProbes = ({ uid, vgName, volume }: DesiredThinSnapshot, view: View): Probe[] => [
  ...groupProbes(view),
  volumesProbe(view, vgName),
  ...recordProbes(volume?.uid ?? uid),
];

/**
 * @throws ObservationError if LVM does not report the group: its content is unknown, not missing
 */
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
    throw new ObservationError(refuse('VolumeGroupMissing', { group: vgName }));
  const group = knownGroup(groups, recorded);
  if (group === undefined) {
    throw new ObservationError(twoGroups(vgName, groups));
  }
  return { type: 'lvm', groups, volumes: readVolumes(get('logical volumes'), group), done };
}

/**
 * Returns the size in bytes of a volume made from the snapshot; undefined without a whole snapshot.
 */
export const thinBytes = (
  { uid, name }: DesiredThinSnapshot,
  { volumes }: ObservedThinSnapshot,
): bigint | undefined => volumes.find((each) => isWhole(each, uid, name))?.sizeBytes;

const isWhole = (each: LogicalVolume, uid: string, name: string): boolean =>
  each.name === name && each.kind === 'V' && isTagged(each, uid);

/** Returns the remaining steps to `take` or `delete` the snapshot, or why they cannot run. Pure. */
export function planThinSnapshot(
  operation: 'take' | 'delete',
  desired: DesiredThinSnapshot,
  observed: ObservedThinSnapshot,
): Plan {
  const { uid, name, vgName } = desired;
  const [group] = observed.groups;
  if (group === undefined) throw new Error(`${vgName} was not observed`);
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
    const taken = { volume: lvName(desired, name), uid, tag: tagOf(uid) };
    return refuse('ThinSnapshotNameTaken', taken);
  }
  if (operation === 'take') return take(desired, observed);
  return there === undefined ? { steps: [] } : remove(desired, there);
}

function take(desired: DesiredThinSnapshot, observed: ObservedThinSnapshot): Plan {
  const { uid, volume } = desired;
  if (volume === undefined) throw new Error(`the volume of snapshot ${uid} is unknown`);
  const own = originOf(volume, observed);
  if ('refusal' in own) return own;
  // Blocks that the owner overwrites later take room of their own.
  const most = written(own.sizeBytes);
  const needed = most < own.sizeBytes ? most : own.sizeBytes;
  const full = refuseWrites(desired, own.pool ?? '', observed, needed, (room) =>
    refuse('ThinPoolFullToCopy', room),
  );
  if (full !== undefined) return full;
  return {
    steps: [
      withRoom(desired, observed, own.pool, needed, takeCopy(desired, own, volume.uid, 'r', [])),
      finish(desired),
    ],
  };
}

/** Returns the volume's logical volume, or why there can be no snapshot of it. */
function originOf(volume: DesiredLvm, observed: ObservedThinSnapshot): LogicalVolume | Refusal {
  const group = groupOf(volume, { groups: observed.groups, intent: undefined });
  if ('refusal' in group) return group;
  const own = ownOf(volume, observed.volumes);
  const known = { volume: lvName(volume, own?.name ?? volume.name) };
  if (own === undefined || whose(volume, observed, own) !== 'ours') {
    const code = own === undefined ? 'ThinOriginMissing' : 'ThinOriginExchanged';
    return refuse(code, { ...known, name: volume.name });
  }
  if (own.pool === undefined || own.kind !== 'V') {
    return refuse('ThinOriginNotThin', { ...known, type: own.kind });
  }
  const passing = refusePassing(volume, observed, own, known);
  return passing === undefined ? own : { ...passing, retryable: true };
}

/** Refuses temporary states. */
function refusePassing(
  { uid }: DesiredLvm,
  observed: ObservedThinSnapshot,
  own: LogicalVolume,
  known: { volume: string },
): Refused | undefined {
  const { health, suspended, pool, sizeBytes } = own;
  if (!isTagged(own, uid)) return refuse('ThinOriginUntagged', known);
  if (health === 'p' || health === 'F') return refuse('ThinOriginUnwell', { ...known, health });
  if (suspended || poolOf(observed, pool)?.suspended) return refuse('ThinOriginSuspended', known);
  const made = observed.done?.sizeBytes ?? sizeBytes;
  return made < sizeBytes ? refuse('ThinOriginGrowing', known) : undefined;
}

/** Removes the snapshot that UUID and tag identify. Volumes made from it share only its blocks. */
function remove(desired: DesiredThinSnapshot, own: LogicalVolume): Plan {
  if (own.open) {
    const volume = lvName(desired, own.name);
    return { ...refuse('ThinSnapshotInUse', { volume }), retryable: true };
  }
  return {
    steps: [
      // An administrator may have activated it.
      ...(own.active ? [deactivate(desired, own)] : []),
      lvremove(desired, own, tagOf(desired.uid)),
    ],
  };
}
