import { dirname } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { answersOf, notUnderstood, ObservationError, optional } from './probe-results.ts';

const nameOf = (directory: string) => `free ${directory}`;

/**
 * Returns a directory and its parents below `/`: a missing directory is created on the file system
 * of the nearest existing parent.
 */
function andAbove(directory: string): string[] {
  const above = dirname(directory);
  return above === '/' ? [directory] : [directory, ...andAbove(above)];
}

/** Returns read-only probes of the free space for files in a directory (an absolute path). */
export const freeSpaceProbes = (directory: string): Probe[] =>
  andAbove(directory).map((path) => ({
    name: nameOf(path),
    argv: ['stat', '-f', '-c', '%a|%S', '--', path],
  }));

/**
 * Returns the free space in bytes.
 * @throws ObservationError if it cannot be determined
 */
export function readFreeSpace(
  directory: string,
  results: ReadonlyMap<string, ProbeResult>,
): bigint {
  const bytes = findFreeSpace(directory, results);
  if (bytes === undefined)
    throw new ObservationError(refuse('FoldersMissing', { folder: directory }));
  return bytes;
}

/** Returns the free space in bytes; undefined if neither the directory nor a parent exists. */
export function findFreeSpace(
  directory: string,
  results: ReadonlyMap<string, ProbeResult>,
): bigint | undefined {
  const get = answersOf(results);
  for (const path of andAbove(directory)) {
    const stat = optional(path, get(nameOf(path)));
    if (stat === undefined) continue;
    const [, blocks, size] = /^(\d+)\|(\d+)$/.exec(stat.trim()) ?? [];
    if (blocks === undefined || size === undefined) {
      throw new ObservationError(notUnderstood('stat', stat));
    }
    return BigInt(blocks) * BigInt(size);
  }
  return undefined;
}
