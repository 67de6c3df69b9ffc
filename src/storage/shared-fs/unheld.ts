import { basename, dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import type { Refusal } from '../types.ts';
import { ownerPath } from './names.ts';
import { holds, lastOf, noOthers, noReaders } from './steps.ts';
import type { Beside } from './types.ts';

/**
 * Refuses to adopt a file that a node may have attached; undefined if no node holds or reads it.
 * The file's Volume is gone, so no attempt of that Volume changes these files.
 */
export function refuseHeld(file: string, beside: Beside): Refusal | undefined {
  const last = lastOf(beside);
  if (last?.state.is === 'unreadable') {
    const path = ownerPath(file, last.number);
    return { ...refuse('AdoptedFileOwnerUnreadable', { path, file }), retryable: true };
  }
  if (last?.state.is === 'held') {
    const { node } = last.state.by;
    return { ...refuse('AdoptedFileHeld', { file, node, since: last.since }), retryable: true };
  }
  const [mark] = beside.marks;
  return mark === undefined
    ? undefined
    : { ...refuse('AdoptedFileRead', { file, node: mark.node, path: mark.path }), retryable: true };
}

/** Preconditions that no node has taken the file, or begun to read it, since it was observed. */
export const unheld = (file: string, beside: Beside): Precondition[] => {
  const last = lastOf(beside);
  return [
    ...(last === undefined ? [] : [holds(file, last)]),
    noOthers(file, beside.owners),
    noReaders(file),
  ];
};

/** Removes the owner files once the file itself is gone, the newest one last. */
export function removeBeside(file: string, beside: Beside): Step[] {
  const paths = [
    ...beside.unfinished.map(({ path }) => path),
    ...beside.owners.map(({ number }) => ownerPath(file, number)),
  ];
  if (paths.length === 0) return [];
  const gone: Precondition = {
    argv: ['test', '!', '-e', file],
    expect: { exit: 0 },
    ...refuse('AdoptedFileNameReturned', { name: basename(file) }),
  };
  return [
    {
      name: 'remove the earlier owner files',
      argv: ['rm', '-f', '--', ...paths],
      preconditions: [gone, ...unheld(file, beside)],
    },
    { name: 'sync its directory', argv: ['sync', dirname(file)], preconditions: [] },
  ];
}
