import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { readUsage, usageProbes } from '../device-usage.ts';
import { optional, succeeded } from '../probe-results.ts';
import { intentPath, parseIntent, RECORDS } from '../records.ts';
import type { DeviceUsage, Intent } from '../types.ts';

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.[a-z.]+)?$/;

/** Something that is named after a Volume, in a folder. */
export interface NamedFile {
  folder: string;
  name: string;
  uid: string;
  /** find(1), %y: `f` is a plain file, `d` a folder. */
  type: string;
  sizeBytes: bigint;
}

/** A backing file, whole or half made. */
export const isBacking = ({ name, uid }: NamedFile): boolean =>
  name === uid || name === `${uid}.partial`;

/** What is named after Volumes in folders. They read only. */
export function folderProbes(folders: readonly string[]): Probe[] {
  return folders.map((folder) => ({
    name: folder,
    argv: [
      ...['find', '-H', folder, '-mindepth', '1', '-maxdepth', '1'],
      // Roughly UIDs: which they are is told from what it prints.
      ...['-name', '*-*-*-*-*', '-printf', '%y %s %f\\n'],
    ],
  }));
}

/** A folder that is not there holds nothing. @throws ObservationError for one that can't be read */
export function readFolders(
  folders: readonly string[],
  get: (name: string) => ProbeResult,
): NamedFile[] {
  return folders.flatMap((folder) =>
    (optional(folder, get(folder)) ?? '').split('\n').flatMap((line) => {
      const [, type = '', size = '', name = ''] = /^(\S) (\d+) (.+)$/.exec(line) ?? [];
      const uid = NAME.exec(name)?.[1];
      return uid === undefined ? [] : [{ folder, name, uid, type, sizeBytes: BigInt(size) }];
    }),
  );
}

/** Who uses devices, and which records the node has. */
export const recordsProbes = (): Probe[] => [...usageProbes(), ...folderProbes([RECORDS])];

export const readRecordFiles = (
  get: (name: string) => ProbeResult,
): { users: DeviceUsage; records: NamedFile[] } => ({
  users: readUsage(get),
  records: readFolders([RECORDS], get),
});

/** What was to be made for Volumes, as their records say. */
export const intentProbes = (uids: readonly string[]): Probe[] =>
  uids.map((uid) => ({ name: `intent ${uid}`, argv: ['cat', intentPath(uid)] }));

/** Those that are there and whole. @throws ObservationError for one that can't be read */
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

/** A damaged one says nothing; it is a leftover as any other. */
function intentOrNone(text: string): Intent | undefined {
  try {
    return parseIntent(text);
  } catch {
    return undefined;
  }
}

/** Whether paths are there. */
export const pathProbes = (paths: readonly string[]): Probe[] =>
  paths.map((path) => ({ name: `path ${path}`, argv: ['test', '-e', path] }));

/** @throws ObservationError where test(1) could not tell */
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
