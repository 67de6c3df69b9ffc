import { explain, type ReasonCode } from '../../api/reasons.ts';
import { type PausedObject, resumable } from '../../model/pause.ts';
import { attachmentToKeep, isKeptAt, requiresFencing } from './force-detach.ts';
import type { Blocked, Managed, NodeAttachment, ReconcileInput } from './types.ts';

/** Refusals to attach: why a node may not attach a volume now, and why pods wait. */

type BlockReason = Omit<Blocked, 'node' | 'pods'>;

/** Reports whether pods use the volume on the node, or its policy keeps the volume there. */
export const isHeld = (view: ReconcileInput, { node, pods }: NodeAttachment): boolean =>
  pods.length > 0 ||
  (view.volume !== undefined && view.wanted.some((wanted) => wanted.node === node));

/** Returns why a node may not attach the volume now; undefined if it may. Ignores backoff. */
export function refusalOf(
  view: ReconcileInput,
  entries: readonly NodeAttachment[],
  node: string,
): BlockReason | undefined {
  const { volume } = view;
  if (volume === undefined) return { reason: 'gone', ...explain('VolumeOfPodGone') };
  const { exists, off, paused } = view.nodeFacts(node);
  const { name, nodes } = volume;
  if (view.problem !== undefined) {
    const message = `Volume ${name}: ${view.problem}. No work is done on any node until the status is corrected`;
    return { reason: 'problem', message };
  }
  if (!volume.attachable)
    return { reason: 'not-made', ...explain('VolumeNotMade', { volume: name }) };
  if (!nodes.includes(node)) {
    const allowed = { volume: name, nodes: nodes.join(', '), node };
    return { reason: 'node-not-allowed', ...explain('NodeNotAllowed', allowed) };
  }
  if (!exists && !isKeptAt(volume, node))
    return { reason: 'gone', ...explain('NodeObjectMissing', { node, volume: name }) };
  if (off) return { reason: 'gone', ...explain('NodeOutOfService', { volume: name, node }) };
  const holder = holderOf(volume, entries, node);
  if (holder !== undefined) return multiAttach(view, volume, holder);
  if (paused === undefined) return undefined;
  return {
    reason: 'paused',
    ...explain('AttachPaused', { volume: name, node, ...pauseOf(paused) }),
  };
}

/** Returns the parameters of reasons about a pause. */
const pauseOf = (paused: PausedObject) => ({
  paused: `${paused.kind} ${paused.name}`,
  resume: resumable(paused),
});

/**
 * Returns the entry on another node that prevents an attach. Read-only entries of a read-only
 * volume prevent none.
 */
function holderOf(
  volume: Managed,
  entries: readonly NodeAttachment[],
  node: string,
): NodeAttachment | undefined {
  const others = entries.filter((entry) => entry.node !== node);
  return others.find(({ readOnly }) => !volume.readOnly || !readOnly);
}

/**
 * Returns a message that starts as kube-controller-manager's, then names the holder's node and why
 * the volume stays there.
 */
function multiAttach(view: ReconcileInput, volume: Managed, holder: NodeAttachment): BlockReason {
  const { message, detail } = holder;
  const why = whyKept(view, volume, holder);
  if (message === undefined) return { reason: 'multi-attach', ...why };
  const mark = why.detail.code === ('MultiAttach' satisfies ReasonCode) ? ',' : ';';
  return {
    ...{ reason: 'multi-attach', message: `${why.message}${mark} ${message}`, detail: why.detail },
    inner: { message, detail },
  };
}

function whyKept(
  view: ReconcileInput,
  volume: Managed,
  { node, pods, state }: NodeAttachment,
): ReturnType<typeof explain> {
  const { ready, exists, paused } = view.nodeFacts(node);
  const use =
    pods.length > 0
      ? `used by pod(s) ${pods.map(({ pod }) => pod).join(', ')}`
      : "exclusively attached to one node and can't be attached to another";
  const held = { volume: volume.name, use, node, state };
  const isFencingRequired = requiresFencing(volume);
  // The message of the entry itself explains this.
  if (!exists && isFencingRequired) return explain('MultiAttach', held);
  if (!exists || !ready) {
    if (isFencingRequired) return explain('MultiAttachNodeNotReady', held);
    const how = exists ? 'is not Ready' : 'has no Node object';
    const left = pods.length > 0 ? 'pods' : undefined;
    return explain('MultiAttachNodeAway', { ...held, how, left });
  }
  if (state === 'Uncertain') return explain('MultiAttachUncertain', held);
  return pods.length === 0 && paused !== undefined
    ? explain('MultiAttachPaused', { ...held, ...pauseOf(paused) })
    : explain('MultiAttach', held);
}

/**
 * Returns why pods wait: each node once, in the order of `wanted`; then the detaches that a pause
 * prevents.
 */
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
    const what = view.volume === undefined ? 'A deleted Volume' : `Volume ${view.volume.name}`;
    const why = explain('DetachPaused', { what, node: entry.node, ...pauseOf(paused) });
    blocked.push({ node: entry.node, pods: [], reason: 'paused', ...why });
  }
  return blocked;
}

/**
 * Reports whether no refusal applies: the volume is attached, or verification is pending. A
 * Volume whose status has a problem is not verified.
 */
const isThere = ({ problem }: ReconcileInput, { state, safeToMount }: NodeAttachment): boolean =>
  state === 'Attached' ? safeToMount : problem === undefined;
