import { dirname } from 'node:path';
import type { Guard, Step } from '../../nodes/job.ts';
import { planAbsent, planPresent } from '../loopfile/attach.ts';
import { planDestroy } from '../loopfile/destroy.ts';
import { notAttached } from '../loopfile/file.ts';
import { loopsOf } from '../loopfile/loop.ts';
import { planPrepare } from '../loopfile/prepare.ts';
import { removeRecords } from '../records.ts';
import type { DesiredSparse, ObservedSparse, Operation, Plan } from '../types.ts';
import { refuseMount } from './mount.ts';
import { isClaim, ownerPath } from './names.ts';
import {
  append,
  appended,
  holds,
  isLast,
  type Last,
  lastOf,
  mark,
  marked,
  noOthers,
  noReaders,
  type Place,
  remove,
  syncFile,
} from './steps.ts';
import { mine, ownMarks, refuseOthers, refuseReaders } from './use.ts';

/**
 * The plans of a file on a directory that several nodes share: those of any sparse file, with the file held for this node
 * before anything is done to it, and let go of after the last.
 * @throws Error where it is not said for which node, or where that was not looked at
 */
export function planShared(
  operation: Operation,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const { file, owner: claim } = desired;
  const { shared } = observed;
  if (claim === undefined || shared === undefined || !isClaim(claim)) {
    throw new Error(`${file} is shared, and it is not known for whom work is to be done on it`);
  }
  const place: Place = { file, claim, shared };
  const unfit = refuseMount(dirname(file), shared.mount);
  if (unfit !== undefined) {
    // What is attached can go; what says so stands where it can't be written.
    const absent = operation === 'absent' ? planAbsent(desired, observed) : { steps: [] };
    if ('refusal' in absent || absent.steps.length > 0) return absent;
    return {
      refusal: unfit,
      hint: 'Mount it so on the node; docs/shared-directories.md says why.',
      passing: true,
    };
  }
  switch (operation) {
    case 'prepare':
      return prepare(place, desired, observed);
    case 'present':
      return desired.readOnly
        ? presentReader(place, desired, observed, loopNumber)
        : present(place, desired, observed, loopNumber);
    case 'absent':
      return absent(place, desired, observed);
    case 'destroy':
      return destroy(place, desired, observed);
  }
}

/** What is made is held while it is made: another node could be told to make it, too. */
function prepare(place: Place, desired: DesiredSparse, observed: ObservedSparse): Plan {
  const made = planPrepare(desired, observed);
  if ('refusal' in made || desired.recorded) return made;
  if (made.steps.length === 0) return { steps: mine(place) ? release(place, observed) : [] };
  const refused = refuseOthers(place) ?? refuseReaders(place);
  if (refused !== undefined) return refused;
  const last = lastOf(place.shared);
  const own = appended(place, 'held', last);
  const first = made.steps.findIndex((step) => touches(step, place.file));
  const [before, after] =
    first < 0 ? [made.steps, []] : [made.steps.slice(0, first), made.steps.slice(first)];
  return {
    steps: [
      ...before,
      ...take(place, last),
      ...guarded(after, place.file, held(place, last)),
      ...append(place, 'free', own),
    ],
  };
}

function present(
  place: Place,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const last = lastOf(place.shared);
  const wanted = planPresent(desired, observed, loopNumber);
  if (loopsOf(observed).length > 0) {
    if (last === undefined || !mine(place, 'this boot')) return strayLoop(place, observed);
    if ('refusal' in wanted) return wanted;
    return {
      ...wanted,
      steps: guarded(wanted.steps, place.file, [holds(place.file, last), isLast(place.file, last)]),
    };
  }
  const refused = refuseOthers(place) ?? refuseReaders(place);
  // Both look after they were seen: who still sees the other steps back.
  if (refused !== undefined) return mine(place) ? { steps: release(place, observed) } : refused;
  if ('refusal' in wanted) return wanted;
  return {
    ...wanted,
    steps: [...take(place, last), ...guarded(wanted.steps, place.file, held(place, last))],
  };
}

function presentReader(
  place: Place,
  desired: DesiredSparse,
  observed: ObservedSparse,
  loopNumber: number,
): Plan {
  const wanted = planPresent(desired, observed, loopNumber);
  const own = ownMarks(place);
  const refused = refuseOthers(place);
  if (loopsOf(observed).length > 0) {
    return refused ?? (own.length > 0 ? wanted : strayLoop(place, observed));
  }
  if (refused !== undefined) return own.length > 0 ? { steps: remove(place.file, own) } : refused;
  const last = lastOf(place.shared);
  // Its own as a writer, or one that is dead.
  if (last?.says.is === 'held') return { steps: append(place, 'free', last) };
  if ('refusal' in wanted) return wanted;
  const reads: Guard[] = [
    marked(place),
    ...(last === undefined ? [] : [holds(place.file, last)]),
    noOthers(place.file, [last]),
  ];
  return {
    ...wanted,
    steps: [
      ...remove(place.file, own),
      ...mark(place),
      ...guarded(wanted.steps, place.file, reads),
    ],
  };
}

function absent(place: Place, desired: DesiredSparse, observed: ObservedSparse): Plan {
  const detached = planAbsent(desired, observed);
  if ('refusal' in detached) return detached;
  return {
    steps: [
      ...detached.steps,
      ...remove(place.file, ownMarks(place)),
      ...(mine(place) ? release(place, observed) : []),
      // Of a node that grew it, and did not make it: the Volume's status says how large it is, and it is deleted where it was made.
      ...(desired.recordedBytes !== undefined &&
      observed.intent === undefined &&
      observed.recordFiles
        ? removeRecords(desired.uid)
        : []),
    ],
  };
}

/** First it is no longer attached; then it is held, so that no other node attaches what is being removed. */
function destroy(place: Place, desired: DesiredSparse, observed: ObservedSparse): Plan {
  if (loopsOf(observed).length > 0) return absent(place, desired, observed);
  const refused = refuseOthers(place) ?? refuseReaders(place);
  if (refused !== undefined) return refused;
  const gone = planDestroy(desired, observed);
  if ('refusal' in gone) return gone;
  const { owners, marks, unfinished } = place.shared;
  const rest = [
    ...unfinished.map(({ path }) => path),
    ...marks.map(({ path }) => path),
    // The last one last: as long as anything is there, so is it.
    ...owners.map(({ number }) => ownerPath(place.file, number)),
  ];
  if (!gone.steps.some((step) => touches(step, place.file))) {
    return { steps: [...gone.steps, ...remove(place.file, rest)] };
  }
  const last = lastOf(place.shared);
  const own = appended(place, 'held', last);
  return {
    steps: [
      ...take(place, last),
      ...guarded(gone.steps, place.file, held(place, last)),
      ...remove(place.file, [...rest, ownerPath(place.file, own.number)]),
    ],
  };
}

/** Also where it is this node's already: the server says then whether it still is. */
const take = (place: Place, last: Last): Step[] => [
  // This node has none of it attached, and the others are known to be dead.
  ...remove(
    place.file,
    place.shared.marks.map(({ path }) => path),
  ),
  ...append(place, 'held', last),
];

/**
 * What holds right after `take`: as the one before is there still, nobody ever had the number of ours; and nobody reads
 * the file. Readers leave their mark before they look for an owner, so that one of both sees the other.
 */
function held(place: Place, last: Last): Guard[] {
  const { file } = place;
  const own = appended(place, 'held', last);
  return [
    ...(last === undefined ? [] : [holds(file, last)]),
    holds(file, own),
    noOthers(file, [last, own]),
    noReaders(file),
  ];
}

/** What was written is on the server before another node may have the file. */
const release = (place: Place, { file }: ObservedSparse): Step[] => [
  ...(file.type === 'file' ? [syncFile(place.file)] : []),
  ...append(place, 'free', lastOf(place.shared), [notAttached(place.file)]),
];

const touches = ({ argv }: Step, file: string): boolean =>
  argv.some((word) => word === file || word.startsWith(`${file}.`) || word.endsWith(`=${file}`));

const guarded = (steps: readonly Step[], file: string, guards: readonly Guard[]): Step[] =>
  steps.map((step) =>
    touches(step, file) ? { ...step, guards: [...guards, ...step.guards] } : step,
  );

function strayLoop({ file, claim }: Place, observed: ObservedSparse): Plan {
  const devices = loopsOf(observed).map(({ name }) => `/dev/${name}`);
  return {
    refusal: `${devices.join(', ')} on node ${claim.node} has ${file}, which is not held for that node`,
    hint: `What is written through it may destroy what another node writes. See that nothing uses it, then: losetup -d ${devices.join(' ')}`,
  };
}
