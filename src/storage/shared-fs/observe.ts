import { basename, dirname } from 'node:path';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, listed, succeeded } from '../probe-results.ts';
import type { DesiredSparse } from '../types.ts';
import { mountOf } from './mount.ts';
import { NODE_NAME, OWNER_NAME } from './names.ts';
import { readText } from './text.ts';
import type { Beside, NodeFile, ObservedShared, OwnerFile, ReaderMark } from './types.ts';

export const BOOT_ID = ['cat', '/proc/sys/kernel/random/boot_id'];

/** Returns the probe of the files beside a file, which show which node has it attached. */
export function besideProbe(name: string, path: string): Probe {
  const file = basename(path);
  return {
    name,
    argv: [
      // The slash follows a symbolic link. Files that others remove meanwhile are no error.
      ...['find', `${dirname(path)}/`, '-ignore_readdir_race', '-maxdepth', '1'],
      ...[
        '(',
        '-name',
        `${file}.owner.*`,
        '-o',
        '-name',
        `${file}.reader.*`,
        '-o',
        '-name',
        `${file}.new.*`,
        ')',
      ],
      // No file name or content can imitate a line: names are restricted, and base64 has no `@`.
      ...['!', '-name', '*[!a-z0-9.-]*', '-printf', '\\n@%f|%T@|'],
      // Stowage's own files are smaller than a kilobyte.
      ...['-type', 'f', '-size', '-3', '-exec', 'base64', '-w0', '{}', ';'],
    ],
  };
}

/** Returns the additional probes of a shared file; none for a file that no other node can reach. */
export function sharedProbes({ shared, file }: Pick<DesiredSparse, 'shared' | 'file'>): Probe[] {
  return shared ? [{ name: 'boot', argv: BOOT_ID }, besideProbe('holders', file)] : [];
}

/**
 * Reads the results of `sharedProbes` and of the probe of mounts; undefined if the file is not
 * shared.
 * @param realPath the backing file's path without symbolic links
 * @throws ObservationError if the file's holder remains unknown
 */
export function readShared(
  { shared, file }: Pick<DesiredSparse, 'shared' | 'file'>,
  realPath: string,
  results: ReadonlyMap<string, ProbeResult>,
): ObservedShared | undefined {
  if (!shared) return undefined;
  const get = answersOf(results);
  return {
    bootId: succeeded('boot', get('boot')).trim(),
    mount: mountOf(dirname(realPath), succeeded('mounts', get('mounts'))),
    ...readBeside(file, get('holders')),
  };
}

/**
 * Parses the result of `besideProbe`.
 * @throws ObservationError if the file's holder remains unknown
 */
export function readBeside(file: string, result: ProbeResult): Beside {
  const owners: OwnerFile[] = [];
  const marks: ReaderMark[] = [];
  const unfinished: NodeFile[] = [];
  // A missing directory has no files.
  for (const line of listed('holders', result).split('\n')) {
    const [, name = '', time = '', content = ''] = /^@([^|]+)\|([^|]*)\|(.*)$/.exec(line) ?? [];
    if (!name.startsWith(basename(file))) continue;
    const rest = name.slice(basename(file).length);
    const text = Buffer.from(content, 'base64').toString('utf8').replace(/\n+$/, '');
    const state = readText(text);
    const number = OWNER_NAME.exec(rest)?.[1];
    const [, kind, node = rest] = NODE_NAME.exec(rest) ?? [];
    const path = `${dirname(file)}/${name}`;
    if (number !== undefined)
      owners.push({ number: Number(number), state, text, since: timeOf(time) });
    else if (kind === 'new') unfinished.push({ path, node });
    // A mark whose name is not Stowage's counts as a foreign reader.
    else if (rest.startsWith('.reader.')) {
      marks.push({ path, node, by: state.is === 'held' ? state.by : undefined });
    }
  }
  return { owners: owners.toSorted((a, b) => a.number - b.number), marks, unfinished };
}

/** Converts seconds since the epoch, as find(1) prints them, to ISO 8601. */
function timeOf(seconds: string): string | undefined {
  const date = new Date(Number(seconds) * 1000);
  return seconds === '' || Number.isNaN(date.getTime())
    ? undefined
    : `${date.toISOString().slice(0, 19)}Z`;
}
