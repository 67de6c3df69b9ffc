import { type Explanation, explain, type ReasonCode } from '../../api/reasons.ts';
import {
  type DeathRule,
  deathDeadline,
  type NodeDeath,
  nodeDeath,
} from '../../model/node-death.ts';
import { withoutNode } from './actual-state.ts';
import { compare } from './desired-state.ts';
import type {
  Managed,
  NodeAttachment,
  NodeFacts,
  ReconcileDecision,
  ReconcileInput,
} from './types.ts';

export interface ForceDetachPlan {
  entries: readonly NodeAttachment[];
  forced: ReconcileDecision['forced'];
  /** When more may be let go of, ms since the epoch. */
  deadlines: readonly number[];
}

type Verdict = NodeDeath | { at: number } | undefined;

/**
 * Lets go of entries on nodes that are gone, though nobody can look there. With the taint at once, for somebody vouches
 * that the node is off. Otherwise only where no pod is left, and never of a volume that another node could then write to
 * at the same time.
 * @param entries after pods were dropped and added
 * @param now ms since the epoch
 */
export function planForceDetach(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
  now: number,
): ForceDetachPlan {
  const forced: ReconcileDecision['forced'][number][] = [];
  const deadlines: number[] = [];
  let left = entries;
  for (const entry of entries) {
    const { node } = entry;
    const facts = view.nodeFacts(node);
    const verdict = verdictOn(view, entry, facts, now);
    if (verdict === undefined) {
      const told = withWord(view, entry, facts);
      if (told !== entry) left = left.map((each) => (each === entry ? told : each));
      continue;
    }
    if (typeof verdict === 'object') {
      deadlines.push(verdict.at);
      continue;
    }
    left = withoutNode(left, node);
    forced.push({ node, reason: verdict, ...outcomeOf(view.volume, node, verdict) });
  }
  return { entries: left, forced, deadlines };
}

/** What stays though its Node is gone says why: nothing is begun there that could say anything. */
function withWord(
  { volume, running }: ReconcileInput,
  entry: NodeAttachment,
  { exists }: NodeFacts,
): NodeAttachment {
  const { node, detail } = entry;
  const isSaid = detail?.code === ('NodeGone' satisfies ReasonCode);
  if (exists) return isSaid ? { ...entry, message: undefined, detail: undefined } : entry;
  if (isSaid || running?.node === node || !requiresFencing(volume)) return entry;
  return { ...entry, ...explain('NodeGone', { node }) };
}

function verdictOn(
  view: ReconcileInput,
  entry: NodeAttachment,
  facts: NodeFacts,
  now: number,
): Verdict {
  const { volume, running, wanted } = view;
  const rule = deathRuleOf(volume);
  const death = nodeDeath(facts, rule, now);
  if (death === 'out-of-service') return death;
  if (entry.pods.length > 0 || running?.node === entry.node) return undefined;
  if (death === 'node-gone') return isKeptAt(volume, entry.node) ? undefined : death;
  const at = deathDeadline(facts, rule);
  if (!Number.isFinite(at)) return undefined;
  const here = wanted.some(({ node }) => node === entry.node);
  const elsewhere = wanted.some(({ node }) => node !== entry.node && volume?.nodes.includes(node));
  if (here && !elsewhere) return undefined;
  return death ?? { at };
}

/** How a volume waits for a node that is NotReady. Of one that is gone itself, nothing is known to wait by. */
const deathRuleOf = (volume: Managed | undefined): DeathRule => ({
  requiresFencing: requiresFencing(volume),
  maxWaitMs: volume?.maxWaitForUnmountMs ?? Infinity,
});

/**
 * Whether a volume has waited long enough for a node that is NotReady. From then on the node is not looked at either,
 * where nothing is known to be: what was found would only be let go of again.
 */
export const isForceDetachDue = (
  volume: Managed | undefined,
  facts: NodeFacts,
  now: number,
): boolean => deathDeadline(facts, deathRuleOf(volume)) <= now;

/**
 * What is kept on its node is looked after there as long as that answers, whether or not there is a Node of that name: a
 * cluster may be set up after its disks.
 */
export const isKeptAt = (volume: Managed | undefined, node: string): boolean =>
  volume?.policy === 'Always' && volume.home === node;

/** A node that is only silent may still write to it when another does: nothing but the taint says that it does not. */
export const requiresFencing = (volume: Managed | undefined): boolean =>
  volume !== undefined && volume.nodes.length > 1 && !volume.readOnly;

function outcomeOf(volume: Managed | undefined, node: string, death: NodeDeath): Explanation {
  const what = volume === undefined ? 'the Volume, which is gone itself,' : `Volume ${volume.name}`;
  if (death === 'out-of-service') return explain('ForceDetachedOutOfService', { node, what });
  if (death === 'node-gone') return explain('ForceDetachedNodeGone', { node, what });
  const seconds = Math.round((volume?.maxWaitForUnmountMs ?? 0) / 1000);
  return explain('ForceDetachedNotReady', { node, what, seconds });
}

/**
 * Where more than one node has a volume that one may have: the entry that stays, which is the first that came to be. The
 * others are detached though pods want them, unless they are in use.
 */
export function attachmentToKeep(
  volume: Managed | undefined,
  entries: readonly NodeAttachment[],
): NodeAttachment | undefined {
  if (volume === undefined || volume.readOnly) return undefined;
  const attached = entries.filter(({ state }) => state === 'Attached');
  if (attached.length < 2) return undefined;
  return attached.sort((a, b) => a.since - b.since || compare(a.node, b.node))[0];
}
