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

/** Existing or planned owner file, which the next owner file follows. */
export type Last = Pick<OwnerFile, 'number' | 'text'> | undefined;

export const lastOf = ({ owners }: Pick<Beside, 'owners'>): OwnerFile | undefined => owners.at(-1);

const holderOf = ({ owner: { node, token }, shared: { bootId } }: FileLock): NodeHold => ({
  node,
  bootId,
  token,
});

/**
 * Adds the owner file after the last one. link(2) makes each number only once on the server, also
 * among competing nodes. A known number is not used again while the last owner file exists. So no
 * step needs a rollback: a file taken meanwhile has a higher number.
 * @param preconditions further preconditions of the link
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
      name: is === 'held' ? `take ${file} for node ${owner.node}` : `release ${file}`,
      argv: ['ln', '-T', '--', made, path],
      preconditions: [
        sameBoot(lock),
        ...(last === undefined ? [] : [holds(file, last)]),
        ...preconditions,
      ],
      failureMeansConflict: true,
    },
    {
      name: 'remove the temporary name of the owner file',
      argv: ['rm', '-f', '--', made],
      preconditions: [],
    },
    syncDirectory(file),
  ];
}

/** Returns the owner file that `append` makes. */
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
      name: `mark ${file} as read by node ${owner.node}`,
      argv: ['mv', '-T', '--', unfinishedPath(file, owner), markPath(file, owner)],
      preconditions: [sameBoot(lock)],
    },
    syncDirectory(file),
  ];
}

/**
 * Writes and syncs a file under a name of this attempt, in a new inode. The inode of an earlier
 * attempt may be an owner file by now. Also removes superseded files, the lowest number first.
 * While a number exists, no higher one has been removed as superseded.
 */
function write(lock: FileLock, text: string): Step[] {
  const { file, owner } = lock;
  const made = unfinishedPath(file, owner);
  return [
    {
      name: 'remove the remains of earlier attempts',
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

/**
 * Removes files beside the backing file, while no loop device of this node has the backing file.
 */
export function remove(file: string, paths: readonly string[]): Step[] {
  if (paths.length === 0) return [];
  return [
    {
      name: 'remove the owner files and marks',
      argv: ['rm', '-f', '--', ...paths],
      preconditions: [notAttached(file)],
    },
    syncDirectory(file),
  ];
}

/**
 * Writes the file's data to the server, including data that a detached loop device left in memory.
 */
export const syncFile = (file: string): Step => ({
  name: 'sync the file',
  argv: ['sync', file],
  preconditions: [notAttached(file)],
});

const syncDirectory = (file: string): Step => ({
  name: 'sync its directory',
  argv: ['sync', dirname(file)],
  preconditions: [],
});

/** Precondition that the node has not rebooted since the observation. */
const sameBoot = ({ owner, shared }: FileLock): Precondition => ({
  argv: BOOT_ID,
  expect: { exit: 0, stdout: { is: shared.bootId } },
  ...refuse('NodeStartedAnew', { node: owner.node }),
});

/** Precondition that an owner file exists unchanged. */
export const holds = (file: string, { number, text }: NonNullable<Last>): Precondition => ({
  argv: ['cat', ownerPath(file, number)],
  expect: { exit: 0, stdout: { is: text } },
  ...refuse('OwnerFileChanged', { path: ownerPath(file, number) }),
});

/** Precondition that no owner file follows this one. */
export const isLast = (file: string, { number }: NonNullable<Last>): Precondition => ({
  argv: ['test', '!', '-e', ownerPath(file, number + 1)],
  expect: { exit: 0 },
  ...refuse('FileTakenOver', { file }),
});

/**
 * Precondition that there are no other owner files. The slash is essential: find(1) does not follow
 * a symbolic link to the directory without it, and would find nothing.
 */
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

/** Precondition that no node reads the file. */
export const noReaders = (file: string): Precondition => ({
  argv: ['find', `${dirname(file)}/`, '-maxdepth', '1', '-name', `${basename(file)}.reader.*`],
  expect: { exit: 0, stdout: { is: '' } },
  ...refuse('FileReadByAnother', { file }),
});

/** Precondition that this node's mark exists. */
export const marked = ({ file, owner }: FileLock): Precondition => ({
  argv: ['test', '-e', markPath(file, owner)],
  expect: { exit: 0 },
  ...refuse('ReaderMarkGone', { path: markPath(file, owner) }),
});
