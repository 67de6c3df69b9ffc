import { basename, dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Probe, ProbeResult } from '../../nodes/job.ts';
import { readFile, STAT } from '../loopfile/file.ts';
import { fileBytes } from '../loopfile/layout.ts';
import { notUnderstood, ObservationError, optional, succeeded } from '../probe-results.ts';
import { donePath } from '../records.ts';
import { ownBlkid, readable, readSignature } from '../signature.ts';
import type { DesiredSparse, FileFacts, Plan, SourceFacts } from '../types.ts';

/**
 * Returns the command for a state that changes with each write to a file, also by its loop device.
 * The kernel writes to the file like any process (drivers/block/loop.c), which sets its ctime, and
 * nothing can set the ctime back. Counters of the device do not serve: `queue/iostats` disables
 * them, and a file without a device has none. The ctime has the granularity of the clock tick, 10
 * ms at most, and a copy begins later than that after the observation. For %.9Z, busybox 1.35 and
 * uutils coreutils until 0.2.2 print whole seconds; those since 0.3.0 round to 240 ns.
 */
export const stateOf = (file: string): string[] => ['stat', '-c', '%s|%i|%z', '--', file];

/** File systems that are known not to clone files, by their stat(1) names; others are tried. */
const CLONES_NONE = new Set(['ext2/ext3', 'tmpfs', 'ramfs', 'squashfs', 'msdos']);

/**
 * Returns the probes of a file in addition to those of its volume.
 * @param target a file in the directory of the copy
 */
export const stateProbes = (file: string, target: string): Probe[] => [
  { name: 'source state', argv: stateOf(file) },
  { name: 'source kind', argv: ['stat', '-f', '-c', '%T', '--', dirname(target)] },
];

/**
 * Returns the probes of a file without known facts. A volume has a record by its UID, and a
 * snapshot has none.
 */
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
    state: stateIn(optional('the source', get('source state'))?.trim()),
    mayClone: !CLONES_NONE.has(kind?.trim() ?? ''),
  };
}

/** Without fractions of a second, a write in the same second would not change the state. */
function stateIn(stat: string | undefined): string | undefined {
  if (stat !== undefined && !/^\d+\|\d+\|.*\d:\d\d\.\d{9}\b/.test(stat))
    throw new ObservationError(notUnderstood('stat', stat));
  return stat;
}

/** @throws ObservationError if the state of the source remains open */
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

/** Precondition that the file has not been written since the observation. */
export const unchanged = (file: string, { state }: SourceFacts): Precondition => ({
  argv: stateOf(file),
  expect: { exit: 0, stdout: { is: state ?? '' } },
  ...refuse('CopiedFileWritten', { file }),
});

/** Refuses a missing file for now: its file system may be mounted late. */
export const missing = (file: string, what: string): Extract<Plan, { refusal: string }> => ({
  ...refuse('CopiedFileMissing', { what, file }),
  retryable: true,
});

/**
 * Refuses to copy a file while it grows. The file grows first and its content last, which may fail
 * for a long time. The copy would hold less than its length.
 * @param madeBytes completed size of the volume in bytes, if known
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
