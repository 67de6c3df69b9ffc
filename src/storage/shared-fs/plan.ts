import { dirname } from 'node:path';
import { refuse } from '../../api/reasons.ts';
import type { Precondition, Step } from '../../nodes/job.ts';
import { commandText } from '../../nodes/quote.ts';
import { planAttach, planDetach } from '../loopfile/attach.ts';
import { planDelete } from '../loopfile/delete.ts';
import { notAttached } from '../loopfile/file.ts';
import { loopsOf } from '../loopfile/file-loops.ts';
import { planProvision } from '../loopfile/provision.ts';
import { removeRecords } from '../records.ts';
import type { DesiredSparse, ObservedSparse, Plan, VolumeOperation } from '../types.ts';
import { refuseMount } from './mount.ts';
import { isLockOwner, ownerPath } from './names.ts';
import {
  append,
  appended,
  type FileLock,
  holds,
  isLast,
  type Last,
  lastOf,
  mark,
  marked,
  noOthers,
  noReaders,
  remove,
  syncFile,
} from './steps.ts';
import { mine, ownMarks, refuseOthers, refuseReaders } from './use.ts';

/**
 * Plans for a file in a directory that several nodes share. They are those of any sparse file, but
 * take the file for this node before the first change, and release it after the last.
 * @throws Error if the owner is unknown, or the shared state was not observed
 */
export function planShared(
  operation: VolumeOperation,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const { file, owner } = desired;
  const { shared } = observed;
  if (owner === undefined || shared === undefined || !isLockOwner(owner)) {
    throw new Error(`${file} is shared, and its lock owner or state is unknown`);
  }
  const lock: FileLock = { file, owner, shared };
  const unfit = refuseMount(dirname(file), shared.mount);
  if (unfit !== undefined) {
    // An attached file can be detached. Its owner files stay if they cannot be written.
    const detaching = operation === 'detach' ? planDetach(desired, observed) : { steps: [] };
    return 'refusal' in detaching || detaching.steps.length > 0 ? detaching : unfit;
  }
  switch (operation) {
    case 'provision':
      return provision(lock, desired, observed);
    case 'attach':
      return desired.readOnly
        ? attachReader(lock, desired, observed, loopNumber)
        : attach(lock, desired, observed, loopNumber);
    case 'detach':
      return detach(lock, desired, observed);
    case 'delete':
      return deleteShared(lock, desired, observed);
  }
}

/** Takes the file before making it: another node may have the same task. */
function provision(lock: FileLock, desired: DesiredSparse, observed: ObservedSparse): Plan {
  const made = planProvision(desired, observed);
  if ('refusal' in made || desired.recorded) return made;
  if (made.steps.length === 0) return { steps: mine(lock) ? release(lock, observed) : [] };
  const refused = refuseOthers(lock) ?? refuseReaders(lock);
  if (refused !== undefined) return refused;
  const last = lastOf(lock.shared);
  const own = appended(lock, 'held', last);
  const first = made.steps.findIndex((step) => touches(step, lock.file));
  const [before, after] =
    first < 0 ? [made.steps, []] : [made.steps.slice(0, first), made.steps.slice(first)];
  return {
    steps: [
      ...before,
      ...take(lock, last),
      ...guarded(after, lock.file, held(lock, last)),
      ...append(lock, 'free', own),
    ],
  };
}

function attach(
  lock: FileLock,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const last = lastOf(lock.shared);
  const wanted = planAttach(desired, observed, loopNumber);
  if (loopsOf(observed).length > 0) {
    if (last === undefined || !mine(lock, 'this boot')) return strayLoop(lock, observed);
    if ('refusal' in wanted) return wanted;
    return {
      ...wanted,
      steps: guarded(wanted.steps, lock.file, [holds(lock.file, last), isLast(lock.file, last)]),
    };
  }
  const refused = refuseOthers(lock) ?? refuseReaders(lock);
  // Each node checks after it became visible: a node that still sees another one steps back.
  if (refused !== undefined) return mine(lock) ? { steps: release(lock, observed) } : refused;
  if ('refusal' in wanted) return wanted;
  return {
    ...wanted,
    steps: [...take(lock, last), ...guarded(wanted.steps, lock.file, held(lock, last))],
  };
}

function attachReader(
  lock: FileLock,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const wanted = planAttach(desired, observed, loopNumber);
  const own = ownMarks(lock);
  const refused = refuseOthers(lock);
  if (loopsOf(observed).length > 0) {
    return refused ?? (own.length > 0 ? wanted : strayLoop(lock, observed));
  }
  if (refused !== undefined) return own.length > 0 ? { steps: remove(lock.file, own) } : refused;
  const last = lastOf(lock.shared);
  // The owner file is this node's as a writer, or a dead node's.
  if (last?.state.is === 'held') return { steps: append(lock, 'free', last) };
  if ('refusal' in wanted) return wanted;
  const reads: Precondition[] = [
    marked(lock),
    ...(last === undefined ? [] : [holds(lock.file, last)]),
    noOthers(lock.file, [last]),
  ];
  return {
    ...wanted,
    steps: [...remove(lock.file, own), ...mark(lock), ...guarded(wanted.steps, lock.file, reads)],
  };
}

function detach(lock: FileLock, desired: DesiredSparse, observed: ObservedSparse): Plan {
  const detached = planDetach(desired, observed);
  if ('refusal' in detached) return detached;
  return {
    steps: [
      ...detached.steps,
      ...remove(lock.file, ownMarks(lock)),
      ...(mine(lock) ? release(lock, observed) : []),
      // Removes the records of a node that grew the file, but did not make it. The Volume's status
      // has the size, and the deletion runs on the node that made the file.
      ...(desired.recordedBytes !== undefined &&
      observed.intent === undefined &&
      observed.recordFiles
        ? removeRecords(desired.uid)
        : []),
    ],
  };
}

/**
 * Detaches the file, then takes it, so that no other node attaches a file that is being removed.
 */
function deleteShared(lock: FileLock, desired: DesiredSparse, observed: ObservedSparse): Plan {
  if (loopsOf(observed).length > 0) return detach(lock, desired, observed);
  const refused = refuseOthers(lock) ?? refuseReaders(lock);
  if (refused !== undefined) return refused;
  const gone = planDelete(desired, observed);
  if ('refusal' in gone) return gone;
  const { owners, marks, unfinished } = lock.shared;
  const rest = [
    ...unfinished.map(({ path }) => path),
    ...marks.map(({ path }) => path),
    // The newest owner file goes last: it stays as long as any other file does.
    ...owners.map(({ number }) => ownerPath(lock.file, number)),
  ];
  if (!gone.steps.some((step) => touches(step, lock.file))) {
    return { steps: [...gone.steps, ...remove(lock.file, rest)] };
  }
  const last = lastOf(lock.shared);
  const own = appended(lock, 'held', last);
  return {
    steps: [
      ...take(lock, last),
      ...guarded(gone.steps, lock.file, held(lock, last)),
      ...remove(lock.file, [...rest, ownerPath(lock.file, own.number)]),
    ],
  };
}

/** Takes the file, also if this node already has it: the server then confirms that. */
const take = (lock: FileLock, last: Last): Step[] => [
  // This node has nothing attached, and the other readers are known to be dead.
  ...remove(
    lock.file,
    lock.shared.marks.map(({ path }) => path),
  ),
  ...append(lock, 'held', last),
];

/**
 * Returns the preconditions right after `take`. The previous owner file still exists, so no other
 * node ever had the new number, and no node reads the file. Readers leave their mark before they
 * check for an owner, so that at least one of both sees the other.
 */
function held(lock: FileLock, last: Last): Precondition[] {
  const { file } = lock;
  const own = appended(lock, 'held', last);
  return [
    ...(last === undefined ? [] : [holds(file, last)]),
    holds(file, own),
    noOthers(file, [last, own]),
    noReaders(file),
  ];
}

/** Releases the file once its data is on the server, before another node may take it. */
const release = (lock: FileLock, { file }: ObservedSparse): Step[] => [
  ...(file.type === 'file' ? [syncFile(lock.file)] : []),
  ...append(lock, 'free', lastOf(lock.shared), [notAttached(lock.file)]),
];

const touches = ({ argv }: Step, file: string): boolean =>
  argv.some((word) => word === file || word.startsWith(`${file}.`) || word.endsWith(`=${file}`));

const guarded = (
  steps: readonly Step[],
  file: string,
  preconditions: readonly Precondition[],
): Step[] =>
  steps.map((step) =>
    touches(step, file)
      ? { ...step, preconditions: [...preconditions, ...step.preconditions] }
      : step,
  );

function strayLoop({ file, owner }: FileLock, observed: ObservedSparse): Plan {
  const devices = loopsOf(observed).map(({ name }) => `/dev/${name}`);
  return refuse('LoopNotHeld', {
    devices: devices.join(', '),
    node: owner.node,
    file,
    command: commandText('losetup', '-d', ...devices),
  });
}
