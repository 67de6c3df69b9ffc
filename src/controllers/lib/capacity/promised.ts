import { directoryWanted } from '../../../api/directory.ts';
import type { Volume } from '../../../api/volume.ts';
import { sizeOf } from '../../../storage/registry.ts';
import { allocatedTo, type DirectoryRoom, type GroupRoom } from '../../../storage/room.ts';
import { directoryOf, groupRoom } from './room.ts';

/** Space that is promised to volumes in a place, beside the space for it there, in bytes. */
export interface Promised {
  promisedBytes: bigint;
  existingBytes: bigint;
}

/** Reports whether volumes can run out of space before they reach their sizes. */
export const isOverpromised = ({ promisedBytes, existingBytes }: Promised): boolean =>
  promisedBytes > existingBytes;

/** Returns the directories of the files of volumes, each once, without invalid ones. */
export const fileDirectories = (volumes: readonly Volume[]): string[] => [
  ...new Set(
    volumes
      .flatMap((volume) => directoryOf(volume) ?? [])
      .filter((directory) => directoryWanted(directory) === undefined),
  ),
];

/**
 * Returns what the files of volumes may still take on the file system of a directory, and its free
 * space. All allocated blocks count as a file's own, as in the alert StowageDirectoryOverpromised.
 * `directoryRoom`, which admits claims, counts shared blocks as missing.
 */
export function promisedInDirectory(facts: DirectoryRoom, volumes: readonly Volume[]): Promised {
  const missing = volumes.map((volume) => {
    const directory = directoryOf(volume);
    if (directory === undefined || !facts.beside.has(directory)) return 0n;
    const allocated = allocatedTo(facts, `${directory}/${volume.metadata.uid}`) ?? 0n;
    const left = sizeOf(volume.spec) - allocated;
    return left > 0n ? left : 0n;
  });
  return {
    promisedBytes: missing.reduce((sum, bytes) => sum + bytes, 0n),
    existingBytes: facts.freeBytes,
  };
}

/**
 * Returns the total size of the volumes of a thin pool, with those that are not created or expanded
 * yet, and the size of the pool.
 */
export const promisedInPool = (
  facts: GroupRoom,
  pool: { vgName: string; thinPool: string },
  volumes: readonly Volume[],
): Promised => ({
  promisedBytes: facts.sizeBytes - groupRoom(facts, pool, volumes, [], 1),
  existingBytes: facts.sizeBytes,
});
