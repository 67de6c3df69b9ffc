import { OUT_OF_SERVICE_TAINT, PAUSED_ANNOTATION } from '../../api/names.ts';
import { attachmentToKeep, isKeptAt, requiresFencing } from './force-detach.ts';
import type { Blocked, Managed, NodeAttachment, ReconcileInput } from './types.ts';

/** Policies: what may be attached where, and what is said to those who wait. */

type BlockReason = Pick<Blocked, 'reason' | 'message'>;

/** Pods are there, or it is kept there by its policy alone. */
export const isHeld = (view: ReconcileInput, { node, pods }: NodeAttachment): boolean =>
  pods.length > 0 ||
  (view.volume !== undefined && view.wanted.some((wanted) => wanted.node === node));

/** Why the volume may not be attached to a node now; undefined: it may. Backoff is no refusal. */
export function refusalOf(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
  node: string,
): BlockReason | undefined {
  const { volume } = view;
  if (volume === undefined) {
    return {
      reason: 'gone',
      message: 'The Volume of this PersistentVolume is gone: delete the pod',
    };
  }
  const facts = view.nodeFacts(node);
  const what = `Volume ${volume.name}`;
  if (view.problem !== undefined) {
    const message = `${what}: ${view.problem}. Nothing is done on any node by it; correct the status`;
    return { reason: 'problem', message };
  }
  if (!volume.attachable) {
    const message = `${what} is not there to be attached: it was not made yet, or is being deleted`;
    return { reason: 'not-made', message };
  }
  if (!volume.nodes.includes(node)) {
    const message = `${what} can be attached to ${volume.nodes.join(', ')} alone, and not to ${node}`;
    return { reason: 'node-not-allowed', message: `${message}: run the pod there` };
  }
  if (!facts.exists && !isKeptAt(volume, node))
    return { reason: 'gone', message: `There is no Node ${node} to attach ${what} to` };
  if (facts.off) {
    const message = `${what} is not attached to Node ${node}, which has the taint ${OUT_OF_SERVICE_TAINT}`;
    return {
      reason: 'gone',
      message: `${message} and is not Ready: take the taint off once it is back`,
    };
  }
  const holder = holderOf(volume, entries, node);
  if (holder !== undefined) {
    return { reason: 'multi-attach', message: multiAttach(view, volume, holder) };
  }
  if (facts.paused === undefined) return undefined;
  const message = `${what} is to be attached to ${node}, but the annotation ${PAUSED_ANNOTATION} of ${facts.paused}`;
  return { reason: 'paused', message: `${message} keeps that from being done: take it off` };
}

/** The entry that keeps the volume from being attached to a node: any elsewhere, unless none can be written to. */
function holderOf(
  volume: Managed,
  entries: readonly NodeAttachment[],
  node: string,
): NodeAttachment | undefined {
  const others = entries.filter((entry) => entry.node !== node);
  return others.find(({ readOnly }) => !volume.readOnly || !readOnly);
}

/** As kube-controller-manager says it, then which node has it, and why that does not let go. */
function multiAttach(view: ReconcileInput, { name }: Managed, holder: NodeAttachment): string {
  const { node, state, pods, message } = holder;
  const used =
    pods.length > 0
      ? `Volume is already used by pod(s) ${pods.map(({ pod }) => pod).join(', ')}`
      : "Volume is already exclusively attached to one node and can't be attached to another";
  const why = [whyKept(view, holder), message].filter((text) => text !== undefined).join('; ');
  return `Multi-Attach error for volume "${name}" ${used}: node ${node} has it (${state})${why === '' ? '' : `, ${why}`}`;
}

function whyKept(view: ReconcileInput, { node, pods, state }: NodeAttachment): string | undefined {
  const { volume } = view;
  const { ready, exists, paused } = view.nodeFacts(node);
  // What is said of it itself.
  if (!exists && requiresFencing(volume)) return undefined;
  if (!exists || !ready) {
    const how = exists ? 'is not Ready' : 'has no Node object';
    if (requiresFencing(volume)) {
      return `and ${how}, so that it may still write: once it is off, say so by the taint ${OUT_OF_SERVICE_TAINT} on it`;
    }
    return `and ${how}${pods.length > 0 ? ', and its pods are not deleted' : ''}`;
  }
  if (state === 'Uncertain') return 'whether it still has is found out by a look at it';
  if (pods.length === 0 && paused !== undefined) {
    return `and is kept from letting go by the annotation ${PAUSED_ANNOTATION} of ${paused}`;
  }
  return undefined;
}

/** Who waits, and why: each node once, in the order of wanted; then what waits to be detached and is paused. */
export function blockedOf(view: ReconcileInput, entries: readonly NodeAttachment[]): Blocked[] {
  const keeper = attachmentToKeep(view.volume, entries);
  const blocked: Blocked[] = [];
  for (const { node, pods } of view.wanted) {
    const entry = entries.find((one) => one.node === node);
    const surplus = entry?.state === 'Attached' && keeper !== undefined && entry !== keeper;
    if (entry !== undefined && !surplus && isThere(view, entry)) continue;
    const refusal = refusalOf(view, entries, node);
    if (refusal === undefined || (pods.length === 0 && refusal.reason !== 'paused')) continue;
    blocked.push({ node, pods, ...refusal });
  }
  for (const entry of entries) {
    const { paused } = view.nodeFacts(entry.node);
    if (paused === undefined || entry.state !== 'Attached' || isHeld(view, entry)) continue;
    const what = view.volume === undefined ? 'A Volume that is gone' : `Volume ${view.volume.name}`;
    const by = `the annotation ${PAUSED_ANNOTATION} of ${paused}`;
    const message = `${what} is to be detached from ${entry.node}, but ${by} keeps that from being done: take it off`;
    blocked.push({ node: entry.node, pods: [], reason: 'paused', message });
  }
  return blocked;
}

/** Attached, or soon to be known: nothing to be said of policies. Nobody looks at a node for an object with a problem. */
const isThere = ({ problem }: ReconcileInput, { state, safeToMount }: NodeAttachment): boolean =>
  state === 'Attached' ? safeToMount : problem === undefined;
