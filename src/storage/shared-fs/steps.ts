import { basename, dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { notAttached } from '../loopfile/file.ts';
import { markPath, ownerPath, unfinishedPath } from './names.ts';
import { BOOT_ID } from './observe.ts';
import { textOf } from './text.ts';
import type { Beside, LockOwner, NodeHold, ObservedShared, OwnerFile } from './types.ts';

/** The lock of a shared file: the owner that takes or holds it, and its state as observed. */
export interface FileLock {
  file: string;
  owner: LockOwner;
  shared: ObservedShared;
}

/** An owner file as it is, or is to be: what comes after it names it. */
export type Last = Pick<OwnerFile, 'number' | 'text'> | undefined;

export const lastOf = ({ owners }: Pick<Beside, 'owners'>): OwnerFile | undefined => owners.at(-1);

const holderOf = ({ owner: { node, token }, shared: { bootId } }: FileLock): NodeHold => ({
  node,
  bootId,
  token,
});

/**
 * Adds the owner file that comes after the last one. link(2) makes one of a number or fails, on the server, whoever else
 * tries; and a number that was seen is not given again while the last one stays. So nobody needs to undo anything: what
 * was taken meanwhile has a higher number.
 * @param preconditions what must be so right before it
 */
export function append(
  lock: FileLock,
  is: 'held' | 'free',
  last: Last,
  preconditions: readonly Precondition[] = [],
): Step[] {
  const { file, owner } = lock;
  const made = unfinishedPath(file, owner);
  const path = ownerPath(file, (last?.number ?? 0) + 1);
  return [
    ...write(lock, textOf(is, holderOf(lock))),
    {
      name: is === 'held' ? `take ${file} for node ${owner.node}` : `let go of ${file}`,
      argv: ['ln', '-T', '--', made, path],
      preconditions: [
        sameBoot(lock),
        ...(last === undefined ? [] : [holds(file, last)]),
        ...preconditions,
      ],
      failureMeansConflict: true,
    },
    { name: 'remove its other name', argv: ['rm', '-f', '--', made], preconditions: [] },
    syncFolder(file),
  ];
}

/** The owner file that `append` makes. */
export const appended = (lock: FileLock, is: 'held' | 'free', last: Last): NonNullable<Last> => ({
  number: (last?.number ?? 0) + 1,
  text: textOf(is, holderOf(lock)),
});

/** Leaves this node's mark as a reader. */
export function mark(lock: FileLock): Step[] {
  const { file, owner } = lock;
  return [
    ...write(lock, textOf('held', holderOf(lock))),
    {
      name: `mark that node ${owner.node} reads ${file}`,
      argv: ['mv', '-T', '--', unfinishedPath(file, owner), markPath(file, owner)],
      preconditions: [sameBoot(lock)],
    },
    syncFolder(file),
  ];
}

/**
 * Writes and syncs a file under a name of this attempt's own, in a new inode: that of an earlier try may be an owner file by
 * now. With it goes what nothing needs any more, the lowest number first: what has a number was never superseded as
 * long as the one before it is there.
 */
function write(lock: FileLock, text: string): Step[] {
  const { file, owner } = lock;
  const made = unfinishedPath(file, owner);
  return [
    {
      name: 'remove what earlier attempts left',
      argv: ['rm', '-f', '--', ...new Set([...superseded(lock), made])],
      preconditions: [],
    },
    {
      name: `write ${basename(made)}`,
      argv: ['dd', `of=${made}`, 'conv=excl,fsync', 'status=none'],
      stdin: `${text}\n`,
      preconditions: [],
    },
  ];
}

function superseded({ file, owner, shared }: FileLock): string[] {
  return [
    ...shared.owners.slice(0, -1).map(({ number }) => ownerPath(file, number)),
    ...shared.unfinished.flatMap(({ node, path }) => (node === owner.node ? [path] : [])),
  ];
}

/** Removes files beside the backing file, while no loop device of this node has that. */
export function remove(file: string, paths: readonly string[]): Step[] {
  if (paths.length === 0) return [];
  return [
    {
      name: 'remove what says who uses it',
      argv: ['rm', '-f', '--', ...paths],
      preconditions: [notAttached(file)],
    },
    syncFolder(file),
  ];
}

/** What was written to the file is on the server then, also what a loop device that is gone left in memory. */
export const syncFile = (file: string): Step => ({
  name: 'sync the file',
  argv: ['sync', file],
  preconditions: [notAttached(file)],
});

const syncFolder = (file: string): Step => ({
  name: 'sync its folder',
  argv: ['sync', dirname(file)],
  preconditions: [],
});

/** That the node was not started anew since it was looked at. */
const sameBoot = ({ owner, shared }: FileLock): Precondition => ({
  argv: BOOT_ID,
  expect: { exit: 0, stdout: { is: shared.bootId } },
  ...refuse('NodeStartedAnew', { node: owner.node }),
});

/** That an owner file is there, as it was. */
export const holds = (file: string, { number, text }: NonNullable<Last>): Precondition => ({
  argv: ['cat', ownerPath(file, number)],
  expect: { exit: 0, stdout: { is: text } },
  ...refuse('OwnerFileChanged', { path: ownerPath(file, number) }),
});

/** That nobody took it after an owner file. */
export const isLast = (file: string, { number }: NonNullable<Last>): Precondition => ({
  argv: ['test', '!', '-e', ownerPath(file, number + 1)],
  expect: { exit: 0 },
  ...refuse('FileTakenOver', { file }),
});

/** That there are no owner files but these. The slash: in a directory that is a link find(1) would see nothing, and all would be well. */
export const noOthers = (file: string, known: readonly Last[]): Precondition => ({
  argv: [
    ...['find', `${dirname(file)}/`, '-maxdepth', '1', '-name', `${basename(file)}.owner.*`],
    ...known.flatMap((each) =>
      each === undefined ? [] : ['!', '-name', basename(ownerPath(file, each.number))],
    ),
  ],
  expect: { exit: 0, stdout: { is: '' } },
  ...refuse('FileTakenByAnother', { file }),
});

/** That no node reads it. */
export const noReaders = (file: string): Precondition => ({
  argv: ['find', `${dirname(file)}/`, '-maxdepth', '1', '-name', `${basename(file)}.reader.*`],
  expect: { exit: 0, stdout: { is: '' } },
  ...refuse('FileReadByAnother', { file }),
});

/** That this node's mark is there. */
export const marked = ({ file, owner }: FileLock): Precondition => ({
  argv: ['test', '-e', markPath(file, owner)],
  expect: { exit: 0 },
  ...refuse('ReaderMarkGone', { path: markPath(file, owner) }),
});
