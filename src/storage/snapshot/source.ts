import { basename, dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../../nodes/job.ts';
import { readFile, STAT } from '../loopfile/file.ts';
import { fileBytes } from '../loopfile/layout.ts';
import { optional, succeeded } from '../probe-results.ts';
import { donePath } from '../records.ts';
import { ownBlkid, readable, readSignature } from '../signature.ts';
import type { DesiredSparse, FileFacts, Plan, SourceFacts } from '../types.ts';

/**
 * What changes with each write to a file, also by its loop device: the kernel writes to the file as any process does
 * (drivers/block/loop.c), which sets its ctime, and nothing can set that back. The counters of the device would not do:
 * they are switched off by `queue/iostats`, and say nothing where there is no device. The ctime has the grain of the clock
 * tick, 10 ms at most, and a copy begins later than that after the look.
 */
export const stateOf = (file: string): string[] => ['stat', '-c', '%s|%i|%.9Z', '--', file];

/** File systems of which is known that they clone no files; others are tried. As stat(1) calls them. */
const CLONES_NONE = new Set(['ext2/ext3', 'tmpfs', 'ramfs', 'squashfs', 'msdos']);

/**
 * What is looked at of a file beside what is known of a volume that it is of.
 * @param target a file in the folder of the copy
 */
export const stateProbes = (file: string, target: string): Probe[] => [
  { name: 'source state', argv: stateOf(file) },
  { name: 'source kind', argv: ['stat', '-f', '-c', '%T', '--', dirname(target)] },
];

/** The same of a file of which nothing is known. A volume's has a record by its UID, and a snapshot's none. */
export const sourceProbes = (file: string, target: string): Probe[] => [
  { name: 'source path', argv: ['readlink', '-m', '--', file] },
  { name: 'source file', argv: [...STAT, file] },
  { name: 'source signature', argv: ownBlkid(file, 'export') },
  { name: 'source readable', argv: readable(file) },
  { name: 'source done', argv: ['cat', donePath(basename(file))] },
  ...stateProbes(file, target),
];

type Get = (name: string) => ProbeResult;

export function readState(get: Get): Pick<SourceFacts, 'state' | 'mayClone'> {
  const kind = optional('the kind of file system', get('source kind'));
  return {
    state: optional('the source', get('source state'))?.trim(),
    mayClone: !CLONES_NONE.has(kind?.trim() ?? ''),
  };
}

/** @throws ObservationError for an answer that leaves open what is there */
export function readSource(path: string, get: Get): SourceFacts {
  const file = readFile(path, get('source file'));
  const done = optional('the record of the source', get('source done')) ?? '';
  return {
    realPath: succeeded('the path of the source', get('source path')),
    file,
    signature:
      file.type === 'file'
        ? readSignature(get('source signature'), get('source readable'))
        : { found: 'none' },
    madeBytes: /^\d+$/.test(done) ? BigInt(done) : undefined,
    ...readState(get),
  };
}

/** That nothing was written to the file since it was looked at. */
export const unchanged = (file: string, { state }: SourceFacts): Precondition => ({
  argv: stateOf(file),
  expect: { exit: 0, stdout: { is: state ?? '' } },
  ...refuse('CopiedFileWritten', { file }),
});

/** What brings it back may be on its way: its file system may be mounted late. */
export const missing = (file: string, what: string): Extract<Plan, { refusal: string }> => ({
  ...refuse('CopiedFileMissing', { what, file }),
  retryable: true,
});

/**
 * Its file becomes larger first, and what is in that last, which may fail for long: a copy would be as long as the file, and hold less.
 * @param madeBytes for how many bytes the volume is made, where that is known
 */
export function beingGrown(
  { file, mode }: Pick<DesiredSparse, 'file' | 'mode'>,
  facts: FileFacts,
  madeBytes: bigint | undefined,
): Extract<Plan, { refusal: string }> | undefined {
  if (facts.type !== 'file' || madeBytes === undefined) return undefined;
  return facts.sizeBytes <= fileBytes({ mode, sizeBytes: madeBytes })
    ? undefined
    : { ...refuse('CopiedFileGrowing', { file }), retryable: true };
}
