import { dirname } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { LSBLK, parseBlockDevices } from './block-devices.ts';
import { freeSpaceProbes, readFreeSpace } from './free-space.ts';
import { twoGroups } from './lvm/group.ts';
import { poolOf } from './lvm/pool.ts';
import { groupProbes, readGroups, readVolumes, volumesProbe } from './lvm/report.ts';
import type { View } from './lvm/view.ts';
import { answersOf, listed, ObservationError, succeeded } from './probe-results.ts';

type Results = ReadonlyMap<string, ProbeResult>;

/** What there is room in for sparse files. */
export interface FolderRoom {
  /** For users other than root, now. */
  freeBytes: bigint;
  /** What files take of it, by their path: those of the folders that are on the same file system. */
  allocated: ReadonlyMap<string, bigint>;
  /** The folders that are on the same file system. */
  beside: ReadonlySet<string>;
  /** Bytes of it that are promised to nobody. */
  floorBytes: bigint;
}

const MIB = 1n << 20n;

/** Stays free at most, of a file system of whatever size. */
const FLOOR = 1024n * MIB;

/** Stays free of a file system whose size is not known: of one on the network, or of several disks. */
const FLOOR_OF_UNKNOWN = 64n * MIB;

/** Returns a twentieth of the file system, and no more than 1 GiB: metadata and logs need room, too. */
export function floorOf(totalBytes: bigint | undefined): bigint {
  if (totalBytes === undefined) return FLOOR_OF_UNKNOWN;
  const part = totalBytes / 20n;
  return part < FLOOR ? part : FLOOR;
}

const DEVICES = 'block devices';

const listName = (folder: string) => `files ${folder}`;

/**
 * The commands that say how much room there is for files in a folder, and what files of ours take of it. They read only.
 * @param folders where those files are; absolute paths
 */
export const folderRoomProbes = (folder: string, folders: readonly string[]): Probe[] => [
  ...freeSpaceProbes(folder),
  { name: 'mounts', argv: ['cat', '/proc/self/mountinfo'] },
  { name: DEVICES, argv: LSBLK },
  ...folders.map((each) => ({
    name: listName(each),
    // The folder may be a link, and files come and go.
    argv: [
      ...['find', `${each}/`, '-ignore_readdir_race'],
      ...['-maxdepth', '1', '-type', 'f', '-printf', '%b|%f\\n'],
    ],
  })),
];

/** @throws ObservationError where that can't be told */
export function readFolderRoom(
  folder: string,
  folders: readonly string[],
  results: Results,
): FolderRoom {
  const get = answersOf(results);
  const mounts = readMounts(succeeded('mounts', get('mounts')));
  const home = mountOf(folder, mounts);
  const beside = new Set(folders.filter((each) => mountOf(each, mounts) === home));
  const allocated = new Map<string, bigint>();
  for (const each of beside) {
    for (const line of listed(each, get(listName(each))).split('\n')) {
      // In blocks of 512 bytes; what has a newline in its name is none of ours.
      const [, blocks, name] = /^(\d+)\|(.+)$/.exec(line) ?? [];
      if (blocks !== undefined) allocated.set(`${each}/${name}`, BigInt(blocks) * 512n);
    }
  }
  const floorBytes = floorOf(sizeOfDevice(home, results.get(DEVICES)));
  return { freeBytes: readFreeSpace(folder, results), allocated, beside, floorBytes };
}

/** The size of a file system's block device, by its number; undefined where none is listed. */
function sizeOfDevice(device: string, result: ProbeResult | undefined): bigint | undefined {
  if (result?.exit !== 0) return undefined;
  try {
    const sizes = parseBlockDevices(result.stdout).filter((each) => each.device === device);
    return sizes.find(({ sizeBytes }) => sizeBytes > 0n)?.sizeBytes;
  } catch {
    return undefined;
  }
}

/** proc_pid_mountinfo(5): the file system's device by the folder that it is mounted on; the last one on a folder counts. */
function readMounts(text: string): ReadonlyMap<string, string> {
  const mounts = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, , device, , point] = line.split(' ');
    if (device === undefined || point === undefined) continue;
    mounts.set(
      point.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
      device,
    );
  }
  return mounts;
}

/** @throws ObservationError where not even / is mounted */
function mountOf(folder: string, mounts: ReadonlyMap<string, string>): string {
  for (let path = folder; ; path = dirname(path)) {
    const device = mounts.get(path);
    if (device !== undefined) return device;
    if (path === '/') throw new ObservationError(refuse('MountNotListed', { folder }));
  }
}

/** What there is room in for logical volumes. */
export interface GroupRoom {
  /** The size of the thin pool; of a group, what no logical volume has. */
  sizeBytes: bigint;
  /** Of a thin pool, the sizes of all volumes in it together, whoever has them. */
  promisedBytes: bigint;
  /** The sizes of the logical volumes that are there, by their names. */
  made: ReadonlyMap<string, bigint>;
}

/** The commands that say how much room a group has. They read only. */
export const groupRoomProbes = (view: View, vgName: string): Probe[] => [
  ...groupProbes(view),
  volumesProbe(view, vgName),
];

/** @throws ObservationError where that can't be told */
export function readGroupRoom(
  view: View,
  vgName: string,
  thinPool: string | undefined,
  results: Results,
): GroupRoom {
  const get = answersOf(results);
  const groups = readGroups(get, view, vgName);
  const [group] = groups;
  if (group === undefined)
    throw new ObservationError(refuse('VolumeGroupMissing', { group: vgName }));
  if (groups.length > 1) {
    throw new ObservationError(twoGroups(vgName, groups));
  }
  const volumes = readVolumes(get('logical volumes'), group);
  const made = new Map(volumes.map(({ name, sizeBytes }) => [name, sizeBytes]));
  if (thinPool === undefined) {
    return { sizeBytes: group.freeExtents * group.extentBytes, promisedBytes: 0n, made };
  }
  const pool = poolOf({ volumes }, thinPool);
  if (pool === undefined || pool.kind !== 't') {
    throw new ObservationError(
      refuse('ThinPoolMissing', {
        pool: `${vgName}/${thinPool}`,
        name: thinPool,
        group: vgName,
      }),
    );
  }
  const promised = volumes
    .filter((each) => each.pool === thinPool)
    .map(({ sizeBytes }) => sizeBytes);
  return { sizeBytes: pool.sizeBytes, promisedBytes: sum(promised), made };
}

const sum = (sizes: readonly bigint[]): bigint => sizes.reduce((all, size) => all + size, 0n);
