import type { Volume } from '../../api/volume.ts';
import { answered } from '../../controllers/lib/answered.ts';
import type { Executor } from '../../nodes/job.ts';
import { withHint } from '../../nodes/job-text.ts';
import { namedDirectoryProbes, readNamedDirectory } from '../../storage/directory/observe.ts';
import { refuseDirectory } from '../../storage/directory/refuse.ts';
import type { LogicalVolume, VolumeGroup } from '../../storage/lvm/facts.ts';
import { twoGroups } from '../../storage/lvm/group.ts';
import { ownOf, whose } from '../../storage/lvm/ownership.ts';
import { isUnknown, poolOf, usedOf } from '../../storage/lvm/pool.ts';
import {
  groupProbes,
  readGroupBytes,
  readGroups,
  readVolumes,
  segmentsProbe,
  volumesProbe,
} from '../../storage/lvm/report.ts';
import { readView, viewProbes } from '../../storage/lvm/view.ts';
import { answersOf } from '../../storage/probe-results.ts';
import { allocatedTo, directoryRoomProbes, readDirectoryRoom } from '../../storage/room.ts';
import type { Place } from './storage-place.ts';

/** Space of a place, in bytes. Figures that the node does not have are undefined. */
export interface PlaceSpace {
  sizeBytes: number | undefined;
  /**
   * Undefined for a directory: its node reports the free space for users other than root, and the
   * rest of the disk has space for root and metadata, too.
   */
  usedBytes: number | undefined;
  freeBytes: number | undefined;
  /** Returns the bytes that a Volume's file or logical volume occupies; undefined if unknown. */
  onDiskOf(volume: Volume): number | undefined;
}

export type MeasuredPlace = PlaceSpace | { why: string };

/** Returns bytes as a number; undefined if no storage has as many: the node's answer is wrong. */
const countOf = (bytes: bigint | undefined): number | undefined =>
  bytes !== undefined && bytes >= 0n && bytes <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(bytes)
    : undefined;

/**
 * Observes a place on a node by the probes of the daemon, which only read. Returns the reason if
 * the node does not answer, or its answer allows no conclusion.
 */
export const measurePlace = (
  executor: Pick<Executor, 'observe'>,
  node: string,
  place: Place,
): Promise<MeasuredPlace> =>
  answered<MeasuredPlace, MeasuredPlace>(
    () =>
      place.type === 'lvm'
        ? observeGroup(executor, node, place)
        : observeDirectory(executor, node, place),
    ({ message }) => ({ why: message }),
  );

async function observeDirectory(
  executor: Pick<Executor, 'observe'>,
  node: string,
  { directory, requireMount }: Extract<Place, { type: 'sparse' }>,
): Promise<MeasuredPlace> {
  const results = await executor.observe(node, [
    ...directoryRoomProbes(directory, [directory]),
    ...namedDirectoryProbes(directory),
  ]);
  // An unmounted directory also reports space, and other files.
  const observed = readNamedDirectory(directory, answersOf(results));
  const away = refuseDirectory(observed, requireMount);
  if (away !== undefined) return { why: withHint(away.refusal, away.hint) };
  const room = readDirectoryRoom(directory, [directory], results);
  return {
    sizeBytes: countOf(room.sizeBytes),
    usedBytes: undefined,
    freeBytes: countOf(room.freeBytes),
    onDiskOf: ({ metadata: { uid } }) => countOf(allocatedTo(room, `${directory}/${uid}`)),
  };
}

async function observeGroup(
  executor: Pick<Executor, 'observe'>,
  node: string,
  { vgName, thinPool }: Extract<Place, { type: 'lvm' }>,
): Promise<MeasuredPlace> {
  const view = readView(answersOf(await executor.observe(node, viewProbes())));
  const get = answersOf(
    await executor.observe(node, [
      ...groupProbes(view),
      volumesProbe(view, vgName),
      segmentsProbe(view),
    ]),
  );
  const groups = readGroups(get, view, vgName);
  const [group] = groups;
  if (group === undefined) return { why: `node ${node} has no volume group ${vgName}` };
  if (groups.length > 1) {
    const { refusal, hint } = twoGroups(vgName, groups);
    return { why: withHint(refusal, hint) };
  }
  const volumes = readVolumes(get('logical volumes'), group);
  const onDiskOf = (volume: Volume) => onDiskIn(volume, group, volumes);
  if (thinPool === undefined) {
    const sizeBytes = readGroupBytes(get('segments'), group);
    return { ...spaceOf(sizeBytes, group.freeExtents * group.extentBytes), onDiskOf };
  }
  const pool = poolOf({ volumes }, thinPool);
  if (pool?.kind !== 't')
    return { why: `the volume group ${vgName} of node ${node} has no thin pool ${thinPool}` };
  const freeBytes = isUnknown(pool) ? undefined : pool.sizeBytes - usedOf(pool);
  return { ...spaceOf(pool.sizeBytes, freeBytes), onDiskOf };
}

function spaceOf(size: bigint | undefined, free: bigint | undefined): Omit<PlaceSpace, 'onDiskOf'> {
  const [sizeBytes, freeBytes] = [countOf(size), countOf(free)];
  const isKnown = sizeBytes !== undefined && freeBytes !== undefined;
  const usedBytes = isKnown ? Math.max(0, sizeBytes - freeBytes) : undefined;
  return { sizeBytes, usedBytes, freeBytes };
}

function onDiskIn(
  { metadata: { uid = '', name }, spec, status }: Volume,
  group: VolumeGroup,
  volumes: readonly LogicalVolume[],
): number | undefined {
  const identity = status?.prepared?.identity;
  const named = { uid, name, identity, ...(spec.adopt == null ? {} : { adopt: spec.adopt.uid }) };
  const own = ownOf(named, volumes);
  if (own === undefined || whose(named, { groups: [group] }, own) === 'not ours') return undefined;
  if (own.pool === undefined) return countOf(own.sizeBytes);
  return isUnknown(own) ? undefined : countOf(usedOf(own));
}
