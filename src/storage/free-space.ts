import { dirname } from 'node:path';
import { refuse } from '../api/reasons.ts';
import type { Probe, ProbeResult } from '../nodes/job.ts';
import { answersOf, notUnderstood, ObservationError, optional } from './probe-results.ts';

const nameOf = (folder: string) => `free ${folder}`;

/** A folder that is not made yet is going to be on the file system of the nearest one above it. */
function andAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === '/' ? [folder] : [folder, ...andAbove(above)];
}

/** The commands that say how much room there is for files in a folder (an absolute path). They read only. */
export const freeSpaceProbes = (folder: string): Probe[] =>
  andAbove(folder).map((path) => ({
    name: nameOf(path),
    argv: ['stat', '-f', '-c', '%a|%S', '--', path],
  }));

/** In bytes. @throws ObservationError where that can't be told */
export function readFreeSpace(folder: string, results: ReadonlyMap<string, ProbeResult>): bigint {
  const bytes = findFreeSpace(folder, results);
  if (bytes === undefined) throw new ObservationError(refuse('FoldersMissing', { folder }));
  return bytes;
}

/** The same; undefined where neither the folder nor one above it is there. */
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
