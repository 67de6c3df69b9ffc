import { dirname } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { LSBLK, parseBlockDevices } from './block-devices.ts';
import { freeSpaceProbes, readFreeSpace } from './free-space.ts';
import { partialOf } from './loopfile/file.ts';
import { twoGroups } from './lvm/group.ts';
import { poolOf } from './lvm/pool.ts';
import { groupProbes, readGroups, readVolumes, volumesProbe } from './lvm/report.ts';
import type { View } from './lvm/view.ts';
import { answersOf, listed, ObservationError, succeeded } from './probe-results.ts';

type Results = ReadonlyMap<string, ProbeResult>;

/** Space for sparse files. */
export interface DirectoryRoom {
  /** Free space for users other than root, at present. */
  freeBytes: bigint;
  /** Space that files occupy, by path: files of the directories on the same file system. */
  allocated: ReadonlyMap<string, bigint>;
  /** Directories on the same file system. */
  beside: ReadonlySet<string>;
  /** Space in bytes that is never promised. */
  floorBytes: bigint;
  /** Size of the file system's block device; undefined on the network, or on several disks. */
  sizeBytes: bigint | undefined;
}

/** Returns the space that a volume's file occupies, also while it is incomplete, in bytes. */
export function allocatedTo(
  { allocated }: Pick<DirectoryRoom, 'allocated'>,
  file: string,
): bigint | undefined {
  const parts = [file, partialOf(file)].flatMap((path) => allocated.get(path) ?? []);
  return parts.length === 0 ? undefined : parts.reduce((all, bytes) => all + bytes);
}

const MIB = 1n << 20n;

/** Maximum space that stays free on a file system of any size. */
const FLOOR = 1024n * MIB;

/** Space that stays free on a file system of unknown size: on the network, or on several disks. */
const FLOOR_OF_UNKNOWN = 64n * MIB;

/**
 * Returns the space that stays free: a twentieth of the file system, and at most 1 GiB, because
 * metadata and logs need space too.
 */
export function floorOf(totalBytes: bigint | undefined): bigint {
  if (totalBytes === undefined) return FLOOR_OF_UNKNOWN;
  const part = totalBytes / 20n;
  return part < FLOOR ? part : FLOOR;
}

const DEVICES = 'block devices';

const listName = (directory: string) => `files ${directory}`;

/**
 * Returns read-only probes of the space for files in a directory, and of what files occupy.
 * @param directories directories of those files, as absolute paths
 */
export const directoryRoomProbes = (directory: string, directories: readonly string[]): Probe[] => [
  ...freeSpaceProbes(directory),
  { name: 'mounts', argv: ['cat', '/proc/self/mountinfo'] },
  { name: DEVICES, argv: LSBLK },
  ...directories.map((each) => ({
    name: listName(each),
    // The directory may be a symbolic link, and files come and go.
    argv: [
      ...['find', `${each}/`, '-ignore_readdir_race'],
      ...['-maxdepth', '1', '-type', 'f', '-printf', '%b|%f\\n'],
    ],
  })),
];

/** @throws ObservationError if the space cannot be determined */
export function readDirectoryRoom(
  directory: string,
  directories: readonly string[],
  results: Results,
): DirectoryRoom {
  const get = answersOf(results);
  const mounts = readMounts(succeeded('mounts', get('mounts')));
  const home = mountOf(directory, mounts);
  const beside = new Set(directories.filter((each) => mountOf(each, mounts) === home));
  const allocated = new Map<string, bigint>();
  for (const each of beside) {
    for (const line of listed(each, get(listName(each))).split('\n')) {
      // Blocks have 512 bytes. A name with a newline is not that of a volume's file.
      const [, blocks, name] = /^(\d+)\|(.+)$/.exec(line) ?? [];
      if (blocks !== undefined) allocated.set(`${each}/${name}`, BigInt(blocks) * 512n);
    }
  }
  const sizeBytes = sizeOfDevice(home, results.get(DEVICES));
  const freeBytes = readFreeSpace(directory, results);
  return { freeBytes, allocated, beside, floorBytes: floorOf(sizeBytes), sizeBytes };
}

/** Returns the size of a file system's block device, by its number; undefined if none is listed. */
function sizeOfDevice(device: string, result: ProbeResult | undefined): bigint | undefined {
  if (result?.exit !== 0) return undefined;
  try {
    const sizes = parseBlockDevices(result.stdout).filter((each) => each.device === device);
    return sizes.find(({ sizeBytes }) => sizeBytes > 0n)?.sizeBytes;
  } catch {
    return undefined;
  }
}

/**
 * Returns the devices of file systems by mount point (proc_pid_mountinfo(5)); the last mount on a
 * directory counts.
 */
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

/**
 * Returns the device of the file system that a directory is on.
 * @throws ObservationError if not even / is mounted
 */
function mountOf(directory: string, mounts: ReadonlyMap<string, string>): string {
  for (let path = directory; ; path = dirname(path)) {
    const device = mounts.get(path);
    if (device !== undefined) return device;
    if (path === '/') throw new ObservationError(refuse('MountNotListed', { folder: directory }));
  }
}

/** Space for logical volumes. */
export interface GroupRoom {
  /** Size of the thin pool; for a group, the space that no logical volume has. */
  sizeBytes: bigint;
  /** Total size of all volumes in the thin pool, also of foreign ones; 0 for a group. */
  promisedBytes: bigint;
  /** Sizes of the existing logical volumes, by name. */
  made: ReadonlyMap<string, bigint>;
}

/** Returns read-only probes of the space in a group. */
export const groupRoomProbes = (view: View, vgName: string): Probe[] => [
  ...groupProbes(view),
  volumesProbe(view, vgName),
];

/** @throws ObservationError if the space cannot be determined */
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
