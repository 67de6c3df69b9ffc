import { basename, dirname } from 'node:path';
import type { Probe, ProbeResult } from '../../nodes/job.ts';
import { answersOf, listed, succeeded } from '../probe-results.ts';
import type { DesiredSparse } from '../types.ts';
import { mountOf } from './mount.ts';
import { NODE_NAME, OWNER_NAME } from './names.ts';
import { readText } from './text.ts';
import type { NodeFile, ObservedShared, OwnerFile, ReaderMark } from './types.ts';

export const BOOT_ID = ['cat', '/proc/sys/kernel/random/boot_id'];

/** What is looked at beside what every sparse file needs; nothing for one that no other node can reach. */
export function sharedProbes({ shared, file }: Pick<DesiredSparse, 'shared' | 'file'>): Probe[] {
  if (!shared) return [];
  const name = basename(file);
  return [
    { name: 'boot', argv: BOOT_ID },
    {
      name: 'holders',
      argv: [
        // By the slash, for the directory may be a link; what others remove meanwhile is no error.
        ...['find', `${dirname(file)}/`, '-ignore_readdir_race', '-maxdepth', '1'],
        ...[
          '(',
          '-name',
          `${name}.owner.*`,
          '-o',
          '-name',
          `${name}.reader.*`,
          '-o',
          '-name',
          `${name}.new.*`,
          ')',
        ],
        // No name can look like a line of its own, nor what a file holds, which comes in an alphabet without `@`.
        ...['!', '-name', '*[!a-z0-9.-]*', '-printf', '\\n@%f|%T@|'],
        // None of ours has a kilobyte.
        ...['-type', 'f', '-size', '-3', '-exec', 'base64', '-w0', '{}', ';'],
      ],
    },
  ];
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
  const owners: OwnerFile[] = [];
  const marks: ReaderMark[] = [];
  const unfinished: NodeFile[] = [];
  // Without its directory nothing is beside the file.
  for (const line of listed('holders', get('holders')).split('\n')) {
    const [, name = '', time = '', content = ''] = /^@([^|]+)\|([^|]*)\|(.*)$/.exec(line) ?? [];
    if (!name.startsWith(basename(file))) continue;
    const rest = name.slice(basename(file).length);
    const text = Buffer.from(content, 'base64').toString('utf8').replace(/\n+$/, '');
    const says = readText(text);
    const number = OWNER_NAME.exec(rest)?.[1];
    const [, kind, node = rest] = NODE_NAME.exec(rest) ?? [];
    const path = `${dirname(file)}/${name}`;
    if (number !== undefined) owners.push({ number: Number(number), says, text, since: timeOf(time) });
    else if (kind === 'new') unfinished.push({ path, node });
    // One whose name is not ours counts as somebody's, too.
    else if (rest.startsWith('.reader.')) {
      marks.push({ path, node, by: says.is === 'held' ? says.by : undefined });
    }
  }
  return {
    bootId: succeeded('boot', get('boot')).trim(),
    mount: mountOf(dirname(realPath), succeeded('mounts', get('mounts'))),
    owners: owners.toSorted((a, b) => a.number - b.number),
    marks,
    unfinished,
  };
}

/** Seconds since the epoch, as find(1) prints them. */
function timeOf(seconds: string): string | undefined {
  const date = new Date(Number(seconds) * 1000);
  return seconds === '' || Number.isNaN(date.getTime()) ? undefined : `${date.toISOString().slice(0, 19)}Z`;
}
