import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { readUsage, usageProbes } from '../device-usage.ts';
import { optional, succeeded } from '../probe-results.ts';
import { intentPath, parseIntent, RECORDS } from '../records.ts';
import type { DeviceUsage, Intent } from '../types.ts';

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.[a-z.]+)?$/;

/** Directory entry that is named after a Volume. */
export interface NamedFile {
  folder: string;
  name: string;
  uid: string;
  /** Type by find(1), %y: `f` is a regular file, `d` a directory. */
  type: string;
  sizeBytes: bigint;
}

/** Reports whether an entry is a backing file, complete or half made. */
export const isBacking = ({ name, uid }: NamedFile): boolean =>
  name === uid || name === `${uid}.partial`;

/** Returns read-only probes of directory entries that are named after Volumes. */
export function directoryProbes(directories: readonly string[]): Probe[] {
  return directories.map((directory) => ({
    name: directory,
    argv: [
      ...['find', '-H', directory, '-mindepth', '1', '-maxdepth', '1'],
      // Roughly UIDs: the output shows which ones are.
      ...['-name', '*-*-*-*-*', '-printf', '%y %s %f\\n'],
    ],
  }));
}

/**
 * Returns the entries that are named after Volumes; none for a missing directory.
 * @throws ObservationError for a directory that cannot be read
 */
export function readDirectories(
  directories: readonly string[],
  get: (name: string) => ProbeResult,
): NamedFile[] {
  return directories.flatMap((directory) =>
    (optional(directory, get(directory)) ?? '').split('\n').flatMap((line) => {
      const [, type = '', size = '', name = ''] = /^(\S) (\d+) (.+)$/.exec(line) ?? [];
      const uid = NAME.exec(name)?.[1];
      return uid === undefined
        ? []
        : [{ folder: directory, name, uid, type, sizeBytes: BigInt(size) }];
    }),
  );
}

/**
 * Returns the directories that do not exist.
 * @throws ObservationError for a directory that cannot be read
 */
export const missingDirectories = (
  directories: readonly string[],
  get: (name: string) => ProbeResult,
): string[] => directories.filter((directory) => optional(directory, get(directory)) === undefined);

/** Returns probes of device use, and of the records on the node. */
export const recordsProbes = (): Probe[] => [...usageProbes(), ...directoryProbes([RECORDS])];

export const readRecordFiles = (
  get: (name: string) => ProbeResult,
): { users: DeviceUsage; records: NamedFile[] } => ({
  users: readUsage(get),
  records: readDirectories([RECORDS], get),
});

export const intentProbes = (uids: readonly string[]): Probe[] =>
  uids.map((uid) => ({ name: `intent ${uid}`, argv: ['cat', intentPath(uid)] }));

/**
 * Returns the intents that exist and are valid.
 * @throws ObservationError for one that cannot be read
 */
export function readIntents(
  uids: readonly string[],
  get: (name: string) => ProbeResult,
): Map<string, Intent> {
  return new Map(
    uids.flatMap((uid) => {
      const text = optional(`intent ${uid}`, get(`intent ${uid}`));
      const intent = text === undefined ? undefined : intentOrNone(text);
      return intent === undefined ? [] : [[uid, intent] as const];
    }),
  );
}

/** Returns undefined for a damaged record, which is a leftover like any other. */
function intentOrNone(text: string): Intent | undefined {
  try {
    return parseIntent(text);
  } catch {
    return undefined;
  }
}

export const pathProbes = (paths: readonly string[]): Probe[] =>
  paths.map((path) => ({ name: `path ${path}`, argv: ['test', '-e', path] }));

/**
 * Returns the paths that exist.
 * @throws ObservationError if test(1) failed
 */
export const readPaths = (
  paths: readonly string[],
  get: (name: string) => ProbeResult,
): Set<string> =>
  new Set(
    paths.filter((path) => {
      const result = get(`path ${path}`);
      return result.exit !== 1 && succeeded(path, result) === '';
    }),
  );
