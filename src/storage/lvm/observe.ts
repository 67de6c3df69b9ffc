import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { deviceProbes, nodeProbes, readRaw } from '../block/observe.ts';
import { readDevices } from '../device-usage.ts';
import { answersOf } from '../probe-results.ts';
import { readRecords } from '../records.ts';
import type { DesiredLvm, ObservedLvm, Space } from '../types.ts';
import {
  clean,
  contentOf,
  contentProbes,
  extentsIn,
  placesIn,
  readContent,
  takeExtents,
} from './content.ts';
import type { FreeExtents, LogicalVolume, VolumeGroup } from './facts.ts';
import { extentsFor, knownGroup, recordedFirst, recordedGroup } from './group.ts';
import { lvPath, poolPath } from './names.ts';
import { ownOf } from './ownership.ts';
import { isUnknown, poolOf, usedOf } from './pool.ts';
import {
  groupProbes,
  readFreeExtents,
  readGroups,
  readVolumes,
  segmentsProbe,
  volumesProbe,
} from './report.ts';
import { filtersProbe, lackOfLvm, readView, type View } from './view.ts';

type Results = ReadonlyMap<string, ProbeResult>;
type RunProbes = (probes: readonly Probe[]) => Promise<Results>;

/** Returns the first probes, which only read. They determine which devices LVM may see. */
export const lvmProbes = (desired: DesiredLvm): Probe[] => [...nodeProbes(desired), filtersProbe()];

/**
 * Observes the group and the logical volume, then the content of an active volume, and the free
 * extents for its creation or growth. Skips suspended devices: reads of them block.
 * @throws ObservationError if the state of the node remains open
 */
export async function observeLvm(runProbes: RunProbes, desired: DesiredLvm): Promise<ObservedLvm> {
  const first = await runProbes(lvmProbes(desired));
  const known = answersOf(first);
  const nothing = withoutLvm(desired, first);
  if (nothing !== undefined) return nothing;
  const view = readView(known, desired.kubeletRoot);
  const get = answersOf(
    await runProbes([...groupProbes(view), volumesProbe(view, desired.vgName)]),
  );
  const recorded = recordedGroup(desired, readRecords(known).intent);
  const groups = recordedFirst(readGroups(get, view, desired.vgName), recorded);
  const group = knownGroup(groups, recorded);
  const volumes = group === undefined ? [] : readVolumes(get('logical volumes'), group);
  const own = ownOf(desired, volumes);
  const located = new Map([...first, ['target', targetOf(own, volumes)]]);
  // LVM's report already has the tags.
  const probes = deviceProbes(located, { recorded: true, identity: undefined }).filter(
    ({ name }) => name !== 'tags',
  );
  const device = readRaw(
    { ...desired, recorded: true, devicePath: lvPath(desired) },
    located,
    probes.length === 0 ? new Map() : await runProbes(probes),
  );
  const thin = own === undefined ? desired.thinPool : own.pool;
  const missing =
    group === undefined || thin !== undefined ? 0n : missingExtents(desired, group, own);
  return {
    ...device,
    type: 'lvm',
    groups,
    volumes,
    ...(missing > 0n && group !== undefined
      ? await freeExtents(runProbes, view, group, missing)
      : NONE),
    space: spaceOf(desired, group, volumes, own),
  };
}

/**
 * Observes a node without the programs of LVM, which made nothing for a Volume without a record:
 * the record of an intent precedes each lvcreate. Returns undefined if the programs are there, or
 * may have been removed since.
 * @throws ObservationError if the state of the node remains open
 */
function withoutLvm(desired: DesiredLvm, first: Results): ObservedLvm | undefined {
  const lacksLvm = lackOfLvm(first);
  if (lacksLvm === undefined || desired.recorded) return undefined;
  const known = answersOf(first);
  const { intent, done, recordFiles } = readRecords(known);
  if (recordFiles || intent !== undefined || done !== undefined) return undefined;
  const { devices } = readDevices(known);
  if (devices.some(({ type, mapper }) => type === 'lvm' || mapper?.uuid.startsWith('LVM-')))
    return undefined;
  const device = readRaw(
    { ...desired, devicePath: lvPath(desired) },
    new Map([...first, ['target', NO_TARGET]]),
    new Map(),
  );
  return {
    ...device,
    ...NONE,
    type: 'lvm',
    groups: [],
    volumes: [],
    space: spaceOf(desired, undefined, [], undefined),
    lacksLvm,
  };
}

const NO_TARGET: ProbeResult = { exit: 1, stdout: '', stderr: 'No such file or directory' };

/**
 * Returns a stat(1) result with the kernel's device number: the path may lead to an earlier device.
 */
function targetOf(own: LogicalVolume | undefined, volumes: readonly LogicalVolume[]): ProbeResult {
  if (own?.device === undefined || own.suspended || poolOf({ volumes }, own.pool)?.suspended) {
    return NO_TARGET;
  }
  const hex = own.device.split(':').map((part) => Number(part).toString(16));
  return { exit: 0, stdout: `block special file|${hex.join(':')}`, stderr: '' };
}

const missingExtents = (
  desired: DesiredLvm,
  group: VolumeGroup,
  own: LogicalVolume | undefined,
): bigint => extentsFor(desired, group) - (own?.sizeBytes ?? 0n) / group.extentBytes;

type Free = Pick<ObservedLvm, 'free' | 'passedOver'>;

const NONE: Free = { free: [], passedOver: [] };

/** Returns the extents of LVM's choice, or, if these have signatures, enough others without. */
async function freeExtents(
  runProbes: RunProbes,
  view: View,
  group: VolumeGroup,
  count: bigint,
): Promise<Free> {
  const segments = await runProbes([segmentsProbe(view)]);
  const all = readFreeExtents(answersOf(segments)('segments'), group);
  const read = async (extents: readonly FreeExtents[]) =>
    extents.length === 0
      ? []
      : readContent(extents, answersOf(await runProbes(contentProbes(extents))));
  const first = await read(takeExtents(all, count, group.extentBytes));
  const usual: Free = { free: first, passedOver: [] };
  if (contentOf(first) === '' || extentsIn(first) < count) return usual;
  const places = clean(await read(placesIn(all, count, group.extentBytes)), all);
  if (extentsIn(places) < count) return usual;
  // The last piece may be larger than needed, and the content of its end depends on the length.
  const free = await read(takeExtents(places, count, group.extentBytes));
  return contentOf(free) === '' ? { free, passedOver: first } : usual;
}

function spaceOf(
  desired: DesiredLvm,
  group: VolumeGroup | undefined,
  volumes: readonly LogicalVolume[],
  own: LogicalVolume | undefined,
): Space {
  const { thinPool } = desired;
  const directory = poolPath(desired);
  const pool = poolOf({ volumes }, thinPool);
  const used = own === undefined ? 0n : own.pool === undefined ? own.sizeBytes : usedOf(own);
  if (thinPool !== undefined) {
    const freeBytes =
      pool === undefined || isUnknown(pool) ? undefined : pool.sizeBytes - usedOf(pool);
    return { directory, freeBytes, allocatedBytes: used };
  }
  const freeBytes = group === undefined ? undefined : group.freeExtents * group.extentBytes;
  return { directory, freeBytes, allocatedBytes: used };
}
