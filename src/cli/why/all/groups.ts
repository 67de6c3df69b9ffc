import { keyOf as reasonKey } from '../../../controllers/lib/event-key.ts';
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
  const held = new Map(found.map((each) => [nameOf(each.subject), each]));
  const groups = Map.groupBy(found, (each) => keyOf(each, sharedRoot(each, held)));
  return [...groups.values()]
    .map((all) => {
      const nearest = all.reduce((a, b) => (lengthOf(b) < lengthOf(a) ? b : a));
      return {
        blocker: nearest.blocker,
        root: sharedRoot(nearest, held),
        objects: all.map(({ subject }) => subject),
      };
    })
    .toSorted(worstFirst);
}

/**
 * Returns the key of a group. An object is held up by one thing at a time, but a node has many: each use of a device is ended by
 * itself. What has an unknown reason there is told apart by its time.
 */
function keyOf({ blocker }: HeldUp, root: Link): string {
  const { cause, reason, since } = blocker;
  const onNode = reason === undefined ? cause === 'UnknownReason' && since : reasonKey(reason);
  return JSON.stringify([cause, nameOf(root), root.kind === 'Node' && onNode]);
}

/** Returns the root; of a claim and a pod that wait for each other, which is one thing, the claim. */
function sharedRoot(each: HeldUp, held: ReadonlyMap<string, HeldUp>): Link {
  const root = rootOf(each);
  const back = held.get(nameOf(root));
  const isMutual =
    back?.blocker.cause === each.blocker.cause && nameOf(rootOf(back)) === nameOf(each.subject);
  return isMutual && nameOf(each.subject) < nameOf(root) ? linkOf(each.subject) : root;
}

const rootOf = ({ subject, blocker: { chain = [] } }: HeldUp): Link =>
  chain.at(-1) ?? linkOf(subject);

const linkOf = ({ kind, namespace, name }: Subject): Link => ({
  kind,
  ...(namespace !== undefined && { namespace }),
  name,
});

const nameOf = ({ kind, namespace = '', name }: Link): string => `${kind} ${namespace}/${name}`;

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
