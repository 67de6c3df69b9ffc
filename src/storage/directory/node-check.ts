import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { optional, succeeded } from '../probe-results.ts';
import { DIRECTORIES } from '../records.ts';
import { parseDirectory } from './directory-record.ts';
import { placeOf, UUIDS } from './observe.ts';
import type { FileSystemPlace, ObservedDirectory } from './types.ts';

/** Probe of all records of directories. */
export const recordedProbe: Probe = {
  name: 'recorded directories',
  argv: [
    'find',
    '-H',
    DIRECTORIES,
    '-maxdepth',
    '1',
    '-type',
    'f',
    '!',
    '-name',
    '*.new',
    '-exec',
    'cat',
    '{}',
    '+',
  ],
};

/**
 * Returns the directories on record, with their records.
 * @throws ObservationError if they cannot be read
 */
export function readRecorded(
  result: ProbeResult,
): { directory: string; recorded: FileSystemPlace }[] {
  const texts = (optional('the directory records', result) ?? '').split('\n');
  return texts.flatMap((text) => {
    if (text === '') return [];
    const { directory, ...recorded } = parseDirectory(text, DIRECTORIES);
    return [{ directory, recorded }];
  });
}

const pathName = (directory: string) => `path of ${directory}`;

/** Returns read-only probes of the file systems of directories. */
export const placeProbes = (directories: readonly string[]): Probe[] => [
  { name: 'mounts', argv: ['cat', '/proc/self/mountinfo'] },
  { name: 'file systems', argv: UUIDS },
  ...directories.map((directory) => ({
    name: pathName(directory),
    argv: ['readlink', '-m', '--', directory],
  })),
];

/** @throws ObservationError for an answer that leaves open which file system a directory is on */
export const readPlaces = (
  all: readonly { directory: string; recorded: FileSystemPlace }[],
  get: (name: string) => ProbeResult,
): ObservedDirectory[] =>
  all.map(({ directory, recorded }) => ({
    ...placeOf(directory, succeeded(directory, get(pathName(directory))), get),
    recorded,
  }));
