import { basename, dirname } from 'node:path';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, listed, succeeded } from '../probe-results.ts';
import type { DesiredSparse } from '../types.ts';
import { mountOf } from './mount.ts';
import { NODE_NAME, OWNER_NAME } from './names.ts';
import { readText } from './text.ts';
import type { Beside, NodeFile, ObservedShared, OwnerFile, ReaderMark } from './types.ts';

export const BOOT_ID = ['cat', '/proc/sys/kernel/random/boot_id'];

/** Reads the files beside a file that tell which node has it attached. */
export function besideProbe(name: string, path: string): Probe {
  const file = basename(path);
  return {
    name,
    argv: [
      // The slash follows a directory that is a link; files that others remove meanwhile are no error.
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
      // No name can look like a line of its own, nor what a file holds, which comes in an alphabet without `@`.
      ...['!', '-name', '*[!a-z0-9.-]*', '-printf', '\\n@%f|%T@|'],
      // None of ours has a kilobyte.
      ...['-type', 'f', '-size', '-3', '-exec', 'base64', '-w0', '{}', ';'],
    ],
  };
}

/** What is looked at beside what every sparse file needs; nothing for one that no other node can reach. */
export function sharedProbes({ shared, file }: Pick<DesiredSparse, 'shared' | 'file'>): Probe[] {
  return shared ? [{ name: 'boot', argv: BOOT_ID }, besideProbe('holders', file)] : [];
}

/**
 * What `sharedProbes` and the probe of mounts found; undefined where they were not asked.
 * @param realPath the backing file's path without symbolic links
 * @throws ObservationError for an answer that leaves open who has the file
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

/** Parses the answer to `besideProbe`. @throws ObservationError for an answer that leaves open who has the file */
export function readBeside(file: string, result: ProbeResult): Beside {
  const owners: OwnerFile[] = [];
  const marks: ReaderMark[] = [];
  const unfinished: NodeFile[] = [];
  // Without its directory nothing is beside the file.
  for (const line of listed('holders', result).split('\n')) {
    const [, name = '', time = '', content = ''] = /^@([^|]+)\|([^|]*)\|(.*)$/.exec(line) ?? [];
    if (!name.startsWith(basename(file))) continue;
    const rest = name.slice(basename(file).length);
    const text = Buffer.from(content, 'base64').toString('utf8').replace(/\n+$/, '');
    const says = readText(text);
    const number = OWNER_NAME.exec(rest)?.[1];
    const [, kind, node = rest] = NODE_NAME.exec(rest) ?? [];
    const path = `${dirname(file)}/${name}`;
    if (number !== undefined)
      owners.push({ number: Number(number), says, text, since: timeOf(time) });
    else if (kind === 'new') unfinished.push({ path, node });
    // One whose name is not ours counts as somebody's, too.
    else if (rest.startsWith('.reader.')) {
      marks.push({ path, node, by: says.is === 'held' ? says.by : undefined });
    }
  }
  return { owners: owners.toSorted((a, b) => a.number - b.number), marks, unfinished };
}

/** Seconds since the epoch, as find(1) prints them. */
function timeOf(seconds: string): string | undefined {
  const date = new Date(Number(seconds) * 1000);
  return seconds === '' || Number.isNaN(date.getTime())
    ? undefined
    : `${date.toISOString().slice(0, 19)}Z`;
}
