import { isDeepStrictEqual } from 'node:util';
import { keyOf as reasonKey } from '../../../controllers/lib/event-key.ts';
import type { Reason } from '../reasons.ts';
import type { Blocker, Link, Subject } from '../types.ts';

export interface HeldUp {
  subject: Subject;
  blocker: Blocker;
}

/** Objects with the same blocker. */
export interface Group {
  /** Blocker as explained for the object nearest to it. */
  blocker: Blocker;
  /** Object that has the blocker: the end of the objects' chains. */
  root: Link;
  /** In the order in which they were found. */
  objects: readonly Subject[];
}

/**
 * Groups objects by blocker. Blockers that need a person come before those that pass by themselves;
 * within each, those of most objects, then the oldest. Pure.
 */
export function groupsOf(found: readonly HeldUp[]): Group[] {
  const held = new Map(found.map((each) => [nameOf(each.subject), each]));
  const groups = Map.groupBy(found, (each) => keyOf(each, sharedRoot(each, held), held));
  return [...groups.values()]
    .map((all) => {
      const nearest = all.reduce((a, b) => (lengthOf(b) < lengthOf(a) ? b : a));
      return {
        blocker: isOfDaemon(nearest) ? withSharedNext(nearest.blocker, all) : nearest.blocker,
        root: sharedRoot(nearest, held),
        objects: all.map(({ subject }) => subject),
      };
    })
    .toSorted(worstFirst);
}

/** Causes of a daemon, which one fix ends for all objects. */
const OF_DAEMON: ReadonlySet<Reason> = new Set<Reason>(['NotTakenUp', 'ControllerOff']);

const isOfDaemon = ({ blocker }: HeldUp): boolean => OF_DAEMON.has(blocker.cause);

/** Returns the blocker without a next attempt that differs within the group, such as by node. */
function withSharedNext({ next, ...blocker }: Blocker, all: readonly HeldUp[]): Blocker {
  const isShared = all.every((each) => isDeepStrictEqual(each.blocker.next, next));
  return next !== undefined && isShared ? { ...blocker, next } : blocker;
}

/**
 * Returns the key of a group. An object has one blocker at a time, but a node has many, as each
 * use of a device ends separately. Unknown reasons on a node are distinguished by their times. For
 * a cause of a daemon, the key is the fix, and the root's own explanation.
 */
function keyOf(each: HeldUp, root: Link, held: ReadonlyMap<string, HeldUp>): string {
  const { cause, reason, since, fix } = each.blocker;
  if (isOfDaemon(each)) {
    const { holdup } = (held.get(nameOf(root)) ?? each).blocker;
    return JSON.stringify([cause, fix, holdup]);
  }
  const onNode = reason === undefined ? cause === 'UnknownReason' && since : reasonKey(reason);
  // Volumes that may have data on a missing node have another fix than those that have none.
  const missing = cause === 'NodeMissing' && fix?.say;
  return JSON.stringify([cause, nameOf(root), root.kind === 'Node' && onNode, missing]);
}

/** Returns the root. If a claim and a pod wait for each other, the root is the claim. */
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
