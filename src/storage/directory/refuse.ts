import { refuse } from '../../api/reasons.ts';
import type { Refusal } from '../types.ts';
import { directoryRecord } from './directory-record.ts';
import { systemDirectoryOf } from './system.ts';
import type { FileSystemPlace, ObservedDirectory } from './types.ts';

/**
 * Compares the recorded place with the present one. `unknown`: the UUID on record cannot be
 * compared, because that of the present file system is unreadable.
 */
export function compareFileSystems(
  recorded: FileSystemPlace,
  now: FileSystemPlace,
): 'same' | 'different' | 'unknown' {
  if (recorded.path !== now.path) return 'different';
  if (recorded.uuid !== undefined && now.uuid !== undefined) {
    return recorded.uuid === now.uuid ? 'same' : 'different';
  }
  if (recorded.type !== now.type) return 'different';
  if (recorded.uuid !== undefined) return 'unknown';
  return recorded.source === now.source ? 'same' : 'different';
}

const describe = ({ uuid, type, source, path }: FileSystemPlace): string =>
  `${path} on ${type} ${uuid ?? source}`;

/**
 * Refuses if the file system on record is not mounted; undefined if it is, or none is on record.
 * Files in an unmounted directory are neither missing nor deleted.
 */
export function refuseAway({
  directory,
  recorded,
  now,
  mountPoint,
}: ObservedDirectory): Refusal | undefined {
  if (recorded === undefined) return undefined;
  const found = compareFileSystems(recorded, now);
  if (found === 'same') return undefined;
  const refused = refuse('DirectoryNotMounted', {
    directory,
    recorded: describe(recorded),
    found: describe(now),
    mountPoint,
    unread: found === 'unknown' ? 'UUID' : undefined,
    record: directoryRecord(directory),
  });
  return { ...refused, retryable: true };
}

function refuseSystem({ directory, realPath }: ObservedDirectory): Refusal | undefined {
  const found = systemDirectoryOf(realPath);
  if (found === undefined) return undefined;
  const leadsTo = realPath === directory ? undefined : realPath;
  return refuse('SystemDirectory', { directory, realPath: leadsTo, found });
}

/** Refuses to make anything in a directory now; undefined if that is permitted. */
export function refuseDirectory(
  observed: ObservedDirectory,
  requireMount: boolean | undefined,
): Refusal | undefined {
  const away = refuseSystem(observed) ?? refuseAway(observed);
  if (away !== undefined || !requireMount || !observed.isRoot) return away;
  return { ...refuse('MountRequired', { directory: observed.directory }), retryable: true };
}
