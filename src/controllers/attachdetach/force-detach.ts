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
  /** Times at which further force-detaches may become due, by the clock of `now`. */
  deadlines: readonly number[];
}

type Verdict = NodeDeath | { at: number } | undefined;

/**
 * Force-detaches entries on dead nodes, without verification. With the out-of-service taint at
 * once, since an operator declares the node off. Otherwise only if no pod is left, and never for a
 * volume that another node could then write to at the same time.
 * @param entries after pods were removed and added
 * @param now ms, by the clock of the facts about nodes
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
      const updated = withReason(view, entry, facts);
      if (updated !== entry) left = left.map((each) => (each === entry ? updated : each));
      continue;
    }
    if (typeof verdict === 'object') {
      deadlines.push(verdict.at);
      continue;
    }
    left = withoutNode(left, node);
    forced.push({ node, reason: verdict, ...explanationOf(view.volume, node, verdict) });
  }
  return { entries: left, forced, deadlines };
}

/**
 * Adds the reason to an entry that stays although its Node is gone: no operation runs there that
 * could report it.
 */
function withReason(
  { volume, running }: ReconcileInput,
  entry: NodeAttachment,
  { exists }: NodeFacts,
): NodeAttachment {
  const { node, detail } = entry;
  const isReported = detail?.code === ('NodeGone' satisfies ReasonCode);
  if (exists) return isReported ? { ...entry, message: undefined, detail: undefined } : entry;
  if (isReported || running?.node === node || !requiresFencing(volume)) return entry;
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

/**
 * Returns the rule by which a node counts as dead for a volume. A deleted Volume has no wait time.
 */
const deathRuleOf = (volume: Managed | undefined): DeathRule => ({
  requiresFencing: requiresFencing(volume),
  maxWaitMs: volume?.maxWaitForUnmountMs ?? Infinity,
});

/**
 * Reports whether a volume has waited long enough for a NotReady node. From then on, a node without
 * an entry is not verified either: an attachment found there would be force-detached again.
 */
export const isForceDetachDue = (
  volume: Managed | undefined,
  facts: NodeFacts,
  now: number,
): boolean => deathDeadline(facts, deathRuleOf(volume)) <= now;

/**
 * Reports whether the policy keeps the volume on the node. Such a volume is managed as long as the
 * node answers, even without a Node object: a cluster may be set up after its disks.
 */
export const isKeptAt = (volume: Managed | undefined, node: string): boolean =>
  volume?.policy === 'Always' && volume.home === node;

/**
 * Reports whether only the out-of-service taint allows a force-detach: an unreachable node may
 * still write to the volume while another node does.
 */
export const requiresFencing = (volume: Managed | undefined): boolean =>
  volume !== undefined && volume.nodes.length > 1 && !volume.readOnly;

function explanationOf(volume: Managed | undefined, node: string, death: NodeDeath): Explanation {
  const what = volume === undefined ? 'the deleted Volume' : `Volume ${volume.name}`;
  if (death === 'out-of-service') return explain('ForceDetachedOutOfService', { node, what });
  if (death === 'node-gone') return explain('ForceDetachedNodeGone', { node, what });
  const seconds = Math.round((volume?.maxWaitForUnmountMs ?? 0) / 1000);
  return explain('ForceDetachedNotReady', { node, what, seconds });
}

/**
 * Returns the attachment to keep if several nodes have a volume that only one may have: the oldest.
 * The others are detached although pods want them, unless they are in use.
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
