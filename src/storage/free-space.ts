import { dirname } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { answersOf, notUnderstood, ObservationError, optional } from './probe-results.ts';

const nameOf = (folder: string) => `free ${folder}`;

/**
 * Returns a directory and its parents below `/`: a missing directory is created on the file system
 * of the nearest existing parent.
 */
function andAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === '/' ? [folder] : [folder, ...andAbove(above)];
}

/** Returns read-only probes of the free space for files in a directory (an absolute path). */
export const freeSpaceProbes = (folder: string): Probe[] =>
  andAbove(folder).map((path) => ({
    name: nameOf(path),
    argv: ['stat', '-f', '-c', '%a|%S', '--', path],
  }));

/**
 * Returns the free space in bytes.
 * @throws ObservationError if it cannot be determined
 */
export function readFreeSpace(folder: string, results: ReadonlyMap<string, ProbeResult>): bigint {
  const bytes = findFreeSpace(folder, results);
  if (bytes === undefined) throw new ObservationError(refuse('FoldersMissing', { folder }));
  return bytes;
}

/** Returns the free space in bytes; undefined if neither the directory nor a parent exists. */
export function findFreeSpace(
  folder: string,
  results: ReadonlyMap<string, ProbeResult>,
): bigint | undefined {
  const get = answersOf(results);
  for (const path of andAbove(folder)) {
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
