import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, ProbeResult } from '../../nodes/job.ts';
import { notUnderstood, ObservationError, optional } from '../probe-results.ts';
import type { FileFacts } from '../types.ts';

/** MetalK8s's directory, the default directory of sparse files. */
export const SPARSE_DIRECTORY = '/var/lib/metalk8s/storage/sparse';

/** Returns the temporary name under which a file is made, beside its own. */
export const partialOf = (file: string) => `${file}.partial`;

/** Command, without the path, whose output `readFile` parses. */
export const STAT = ['stat', '-c', '%F|%s|%i|%b|%B', '--'];

/** @throws ObservationError if the output of stat cannot be parsed */
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

/** Returns the bytes that a file occupies, from the output of `STAT`; 0 if it is missing. */
export function allocatedBytes({ stdout }: ProbeResult): bigint {
  const [, blocks = '0', unit = '0'] = /\|(\d+)\|(\d+)\s*$/.exec(stdout) ?? [];
  return BigInt(blocks) * BigInt(unit);
}

/**
 * Requires that no loop device has the file: `losetup -d` of a busy device leaves it attached
 * without an error.
 */
export function notAttached(file: string): Precondition {
  return {
    argv: ['losetup', '-j', file],
    expect: { exit: 0, stdout: { is: '' } },
    ...refuse('FileStillAttached', { file }),
  };
}

/** Requires that the path still leads to the observed file, and that its size is the same. */
export const sameFile = (
  file: string,
  { sizeBytes, inode }: Extract<FileFacts, { type: 'file' }>,
): Precondition => ({
  argv: ['stat', '-c', '%s|%i', '--', file],
  expect: { exit: 0, stdout: { is: `${sizeBytes}|${inode}` } },
  ...refuse('FileReplaced', { file, bytes: sizeBytes }),
});
