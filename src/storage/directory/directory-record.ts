import { createHash } from 'node:crypto';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { ObservationError } from '../probe-results.ts';
import { DIRECTORIES, directoryPartial, durableFile } from '../records.ts';
import type { FileSystemPlace, ObservedDirectory } from './types.ts';

/** Returns the path of a directory's record. */
export const directoryRecord = (directory: string): string =>
  `${DIRECTORIES}/${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;

const textOf = ({ directory, now }: Pick<ObservedDirectory, 'directory' | 'now'>): string =>
  JSON.stringify({ version: 1, directory, ...now });

/** @throws ObservationError for a text that no version of Stowage wrote */
export function parseDirectory(
  text: string,
  path: string,
): FileSystemPlace & { directory: string } {
  try {
    const { version, directory, type, source, path: within, uuid } = JSON.parse(text);
    const words: unknown[] = [directory, type, source, within, uuid ?? ''];
    if (version === 1 && words.every((word) => typeof word === 'string')) {
      return { directory, type, source, path: within, ...(uuid === undefined ? {} : { uuid }) };
    }
  } catch {} // Thrown below.
  throw new ObservationError(
    refuse('RecordDamaged', {
      record: `the directory record ${path}`,
      text: text.slice(0, 200),
    }),
  );
}

/**
 * Returns steps that record the file system of a directory; none if one is on record.
 * @param uid UID of the Volume whose job records it. The first jobs of a directory may do so at
 * once, each through a file of its own.
 */
export function recordDirectory(uid: string, observed: ObservedDirectory): Step[] {
  if (observed.recorded !== undefined) return [];
  const path = directoryRecord(observed.directory);
  const [write, rename] = durableFile(
    'directory',
    path,
    `${textOf(observed)}\n`,
    directoryPartial(uid),
  );
  return [
    {
      name: 'create the directory of directory records',
      argv: ['install', '-d', '-m', '0700', '/var/lib/stowage', DIRECTORIES],
      preconditions: [],
    },
    write,
    {
      ...rename,
      // Another job may have recorded the directory meanwhile: mv(1) skips an existing file, and
      // fails from coreutils 9.2 on. The preconditions of the first write compare that record.
      argv: ['mv', '-n', ...rename.argv.slice(1)],
      failureMeansConflict: true,
    },
    {
      name: 'sync the directory records',
      argv: ['sync', DIRECTORIES, '/var/lib/stowage', '/var/lib'],
      preconditions: [],
    },
  ];
}

/** Encodes `major:minor` as glibc's makedev(3) does, for comparison with stat(2). */
function numberOf(device: string): string {
  const [major = 0n, minor = 0n] = device.split(':').map(BigInt);
  return String(
    ((major & 0xfffff000n) << 32n) |
      ((major & 0xfffn) << 8n) |
      ((minor & 0xffffff00n) << 12n) |
      (minor & 0xffn),
  );
}

/**
 * Requires that the directory, which exists, is on the observed file system. If the same job
 * records that, no other job may have recorded another one.
 */
export function onSameFileSystem(observed: ObservedDirectory): Precondition[] {
  const { directory, device, recorded, now } = observed;
  const path = directoryRecord(directory);
  const own: Precondition = {
    argv: ['cat', path],
    expect: { exit: 0, stdout: { is: textOf(observed) } },
    ...refuse('AnotherFileSystemRecorded', { directory }),
  };
  const same: Precondition = {
    argv: ['stat', '-c', '%d', '--', directory],
    expect: { exit: 0, stdout: { is: numberOf(device) } },
    ...refuse('DirectoryMoved', { directory }),
  };
  return [
    ...(recorded === undefined ? [own] : []),
    // btrfs has a number for each subvolume, which no mount shows.
    ...(now.type === 'btrfs' ? [] : [same]),
  ];
}
