import { withPods } from './actual-state.ts';
import { blockedOf, isHeld, refusalOf } from './attach-refusals.ts';
import { attachmentToKeep, isForceDetachDue, isKeptAt, planForceDetach } from './force-detach.ts';
import type {
  AttachmentOperation,
  AttachmentOperationKind,
  DesiredAttachment,
  NodeAttachment,
  ReconcileDecision,
  ReconcileInput,
} from './types.ts';

/**
 * Decides the next operation of one volume, in the order of the specification. Removes pods that
 * are gone, adds pods to attached entries, and detaches before it attaches. Verifications come
 * first, since decisions need a known state. Verifications of nodes that did not answer come last,
 * since nothing depends on them.
 * Level-triggered and pure.
 * @param now ms, by a clock that never steps
 */
export function nextOperation(view: ReconcileInput, now: number): ReconcileDecision {
  const kept = withPods(view.entries, view.wanted, view.isPodActive);
  // Anyone may have written an untrusted status: change nothing until it is corrected.
  if (view.problem !== undefined) {
    return {
      entries: kept,
      forced: [],
      start: undefined,
      blocked: blockedOf(view, kept),
      again: undefined,
    };
  }
  const { entries, forced, deadlines } = planForceDetach(
    view,
    withoutDetachMessages(view, kept),
    now,
  );
  // A volume has at most one operation.
  const due = view.running === undefined ? dueOf(view, entries, now) : [];
  const start = due.find((operation) => isTime(view, operation, now));
  const later = due.map(({ kind, node }) => view.notBefore(kind, node));
  const times = [...deadlines, ...later].filter((time) => time > now && Number.isFinite(time));
  return {
    entries,
    forced,
    start,
    blocked: blockedOf(view, entries),
    again: times.length === 0 ? undefined : Math.min(...times),
  };
}

const isTime = (
  view: ReconcileInput,
  { kind, node }: Pick<AttachmentOperation, 'kind' | 'node'>,
  now: number,
): boolean => view.notBefore(kind, node) <= now;

/** Clears the message of a failed detach once the device is needed where it is. */
function withoutDetachMessages(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
): readonly NodeAttachment[] {
  const keeper = attachmentToKeep(view.volume, entries);
  const isOver = (entry: NodeAttachment): boolean =>
    entry.message !== undefined &&
    !isUncertain(view, entry) &&
    entry.safeToMount &&
    view.running?.node !== entry.node &&
    view.nodeFacts(entry.node).exists &&
    isHeld(view, entry) &&
    (keeper === undefined || keeper === entry);
  return entries.some(isOver)
    ? entries.map((entry) =>
        isOver(entry) ? { ...entry, message: undefined, detail: undefined } : entry,
      )
    : entries;
}

/** Returns all due operations, most urgent first, including those in backoff. */
function dueOf(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
  now: number,
): AttachmentOperation[] {
  const attaches = attachesOf(view, entries);
  // The next attach verifies its node itself.
  const next = attaches.find((operation) => isTime(view, operation, now)) ?? attaches[0];
  const verifiedFirst = new Set(
    (view.volume?.readOnly ? attaches : [next]).map((operation) => operation?.node),
  );
  const uncertain = entries.filter((entry) => isUncertain(view, entry));
  // An unreachable node occupies the Volume's only operation until the connection times out. After
  // a failure, verify it last.
  const holdsUp = (place: NodeAccess) =>
    view.notBefore('verify', place.node) === 0 ||
    (hasEntry(entries, place.node) && !place.readOnly);
  const unverified = [...view.unverifiedNodes]
    .sort()
    .filter((node) => !hasEntry(entries, node) && !verifiedFirst.has(node))
    .filter((node) => !isForceDetachDue(view.volume, view.nodeFacts(node), now));
  const places = [...uncertain, ...unverified.map(accessOf(view))];
  return [
    ...verificationsOf(view, places.filter(holdsUp)),
    ...detachesOf(view, entries),
    ...attaches,
    ...verificationsOf(
      view,
      places.filter((place) => !holdsUp(place)),
    ),
  ];
}

/**
 * Reports whether an entry needs verification. An entry that is Attaching or Detaching without an
 * operation is left from an operation with unknown end.
 */
const isUncertain = (view: ReconcileInput, { state, node }: NodeAttachment): boolean =>
  state !== 'Attached' || view.unverifiedNodes.has(node);

const hasEntry = (entries: readonly NodeAttachment[], node: string): boolean =>
  entries.some((entry) => entry.node === node);

type NodeAccess = Pick<NodeAttachment, 'node' | 'readOnly'>;

const accessOf =
  ({ volume }: ReconcileInput) =>
  (node: string): NodeAccess => ({ node, readOnly: volume?.readOnly ?? false });

const operation = (
  kind: AttachmentOperationKind,
  { node, readOnly }: NodeAccess,
): AttachmentOperation => ({
  kind,
  node,
  readOnly,
});

/**
 * Returns the verifications of reachable nodes. Pauses do not prevent them, since they write
 * nothing.
 */
function verificationsOf(
  view: ReconcileInput,
  places: readonly NodeAccess[],
): AttachmentOperation[] {
  return places
    .filter(({ node }) => isReachable(view, node))
    .map((place) => operation('verify', place));
}

/** Reports whether Kubernetes considers the node reachable. A NotReady node may still answer. */
function isReachable(view: ReconcileInput, node: string): boolean {
  const { exists, off } = view.nodeFacts(node);
  return (exists || isKeptAt(view.volume, node)) && !off;
}

function detachesOf(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
): AttachmentOperation[] {
  const keeper = attachmentToKeep(view.volume, entries);
  return entries
    .filter((entry) => !isUncertain(view, entry) && isReachable(view, entry.node))
    .filter((entry) => !isHeld(view, entry) || (keeper !== undefined && entry !== keeper))
    .filter(({ node }) => view.nodeFacts(node).paused === undefined)
    .map((entry) => operation('detach', entry));
}

function attachesOf(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
): AttachmentOperation[] {
  const { volume } = view;
  if (volume === undefined) return [];
  const isMissing = ({ node }: DesiredAttachment): boolean => {
    const entry = entries.find((one) => one.node === node);
    return entry === undefined || (!isUncertain(view, entry) && !entry.safeToMount);
  };
  return view.wanted
    .filter(isMissing)
    .filter((wanted) => refusalOf(view, entries, wanted.node) === undefined)
    .map(({ node }) => operation('attach', { node, readOnly: volume.readOnly }));
}
