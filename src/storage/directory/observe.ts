import { join } from 'node:path/posix';
import { refuse } from '../../api/reasons.ts';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { ObservationError, optional, succeeded } from '../probe-results.ts';
import { mountOf } from '../shared-fs/mount.ts';
import { directoryRecord, parseDirectory } from './directory-record.ts';
import type { ObservedDirectory } from './types.ts';

/** Command that lists the UUIDs of mounted file systems, which mountinfo lacks. */
export const UUIDS = ['findmnt', '-r', '-n', '-o', 'MAJ:MIN,UUID'];

/**
 * Returns read-only probes of a directory's file system, to run beside a probe `mounts` of
 * mountinfo.
 */
export const directoryProbes = (directory: string): Probe[] => [
  { name: 'directory', argv: ['cat', directoryRecord(directory)] },
  { name: 'file systems', argv: UUIDS },
];

/**
 * Returns the file system of a directory, on record and at present.
 * @param realPath the directory's path without symbolic links
 * @throws ObservationError for an answer that leaves open which file system it is on, or a damaged
 * record
 */
export function readDirectory(
  directory: string,
  realPath: string,
  get: (name: string) => ProbeResult,
): ObservedDirectory {
  const record = optional('the directory record', get('directory'));
  const place = placeOf(directory, realPath, get);
  if (record === undefined) return { ...place, recorded: undefined };
  const { directory: _, ...recorded } = parseDirectory(record, directoryRecord(directory));
  return { ...place, recorded };
}

/**
 * Returns the same probes for a directory by itself, and a probe of its path without symbolic
 * links.
 */
export const namedDirectoryProbes = (directory: string): Probe[] => [
  { name: 'directory path', argv: ['readlink', '-m', '--', directory] },
  ...directoryProbes(directory),
];

/** @throws ObservationError as `readDirectory` does */
export const readNamedDirectory = (
  directory: string,
  get: (name: string) => ProbeResult,
): ObservedDirectory =>
  readDirectory(directory, succeeded('directory path', get('directory path')), get);

/** Returns the present file system of a directory. */
export function placeOf(
  directory: string,
  realPath: string,
  get: (name: string) => ProbeResult,
): Omit<ObservedDirectory, 'recorded'> {
  const mounts = succeeded('mounts', get('mounts'));
  const mount = mountOf(realPath, mounts);
  if (mount === undefined)
    throw new ObservationError(refuse('MountNotListed', { folder: directory }));
  const uuid = uuidOf(mount.device, succeeded('file systems', get('file systems')));
  const { device, type, source, point } = mount;
  return {
    directory,
    realPath,
    now: {
      ...(uuid === undefined ? {} : { uuid }),
      ...{ type, source, path: join(mount.root, realPath.slice(point === '/' ? 0 : point.length)) },
    },
    device,
    mountPoint: point,
    isRoot: device === mountOf('/', mounts)?.device,
  };
}

function uuidOf(device: string, listed: string): string | undefined {
  for (const line of listed.split('\n')) {
    const [, number, uuid] = /^ *(\d+:\d+) +(\S+) *$/.exec(line) ?? [];
    if (number === device) return uuid;
  }
  return undefined;
}
