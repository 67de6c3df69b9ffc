import type { Blocker, Link, Subject } from '../types.ts';

/** An object that is held up, and by what. */
export interface HeldUp {
  subject: Subject;
  blocker: Blocker;
}

/** Objects that the same thing holds up. */
export interface Group {
  /** The blocker, as it is explained of the object nearest to it. */
  blocker: Blocker;
  /** The object that it is found at: the end of their chains. */
  root: Link;
  /** In the order that they were found in. */
  objects: readonly Subject[];
}

/**
 * Groups objects by what holds them up. First what a person has to end, then what passes by itself; of each, what holds most objects
 * up, then what has lasted longest. Pure.
 */
export function groupsOf(found: readonly HeldUp[]): Group[] {
  const groups = Map.groupBy(found, keyOf);
  return [...groups.values()]
    .map((all) => {
      const nearest = all.reduce((a, b) => (lengthOf(b) < lengthOf(a) ? b : a));
      return {
        blocker: nearest.blocker,
        root: rootOf(nearest.subject, nearest.blocker),
        objects: all.map(({ subject }) => subject),
      };
    })
    .toSorted(worstFirst);
}

/**
 * Returns the key of a group: one cause, found at one object, and ended by the same commands, but for the names of what it holds
 * up. Of an unknown reason the message is all that there is.
 */
function keyOf({ subject, blocker }: HeldUp): string {
  const { cause, reason, chain = [], holdup, fix } = blocker;
  const names = new Set([subject, ...chain].map(({ name }) => name));
  const withoutNames = (line: string) =>
    line.split(/[ /]/).map((word) => (names.has(word) ? '' : word));
  return JSON.stringify([
    ...[cause, rootOf(subject, blocker), reason?.code],
    fix?.run?.map(withoutNames),
    cause === 'UnknownReason' ? holdup : undefined,
  ]);
}

function rootOf({ kind, namespace, name }: Subject, { chain = [] }: Blocker): Link {
  return chain.at(-1) ?? { kind, ...(namespace !== undefined && { namespace }), name };
}

const lengthOf = ({ blocker }: HeldUp): number => blocker.chain?.length ?? 0;

const waits = ({ blocker: { fix } }: Group): number =>
  fix?.run === undefined && fix?.manifest === undefined ? 1 : 0;

function worstFirst(a: Group, b: Group): number {
  const since = ({ blocker }: Group) => blocker.since ?? '~';
  return (
    waits(a) - waits(b) ||
    b.objects.length - a.objects.length ||
    (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : 0)
  );
}
