import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, ProbeResult } from '../../nodes/job.ts';
import { notUnderstood, ObservationError, optional } from '../probe-results.ts';
import type { FileFacts } from '../types.ts';

/** MetalK8s's folder, where sparse files are by default. */
export const SPARSE_FOLDER = '/var/lib/metalk8s/storage/sparse';

/** Under this name a file is made, beside its own. */
export const partialOf = (file: string) => `${file}.partial`;

/** What `readFile` reads of a path. */
export const STAT = ['stat', '-c', '%F|%s|%i|%b|%B', '--'];

/** @throws ObservationError for what stat does not print */
export function readFile(path: string, result: ProbeResult): FileFacts {
  const stat = optional(`${dirname(path)}/…`, result);
  if (stat === undefined) return { type: 'missing' };
  const [, type, size = '', inode = ''] =
    /^([^|]+)\|(\d+)\|(\d+)\|\d+\|\d+$/.exec(stat.trim()) ?? [];
  if (type === undefined) throw new ObservationError(notUnderstood('stat', stat));
  return type === 'regular file' || type === 'regular empty file'
    ? { type: 'file', sizeBytes: BigInt(size), inode }
    : { type: 'other' };
}

/** Bytes that are allocated to a file, by what `STAT` printed; 0 where it is not there. */
export function allocatedBytes({ stdout }: ProbeResult): bigint {
  const [, blocks = '0', unit = '0'] = /\|(\d+)\|(\d+)\s*$/.exec(stdout) ?? [];
  return BigInt(blocks) * BigInt(unit);
}

/** Read back: a busy loop device survives `losetup -d`, which says nothing of it. */
export function notAttached(file: string): Precondition {
  return {
    argv: ['losetup', '-j', file],
    expect: { exit: 0, stdout: { is: '' } },
    ...refuse('FileStillAttached', { file }),
  };
}

/** The path still leads to the file that was looked at, and that has the size it had. */
export const sameFile = (
  file: string,
  { sizeBytes, inode }: Extract<FileFacts, { type: 'file' }>,
): Precondition => ({
  argv: ['stat', '-c', '%s|%i', '--', file],
  expect: { exit: 0, stdout: { is: `${sizeBytes}|${inode}` } },
  ...refuse('FileReplaced', { file, bytes: sizeBytes }),
});
