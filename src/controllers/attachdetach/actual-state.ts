import { byNode } from './attached-nodes-annotation.ts';
import { byPod } from './desired-state.ts';
import type { DesiredAttachment, NodeAttachment, PodUse } from './types.ts';

/**
 * Actual state of the world: volume → nodes → pods. Functions return the same list if nothing
 * changes.
 */

/** Returns the entries without that of a node. */
export function withoutNode(
  entries: readonly NodeAttachment[],
  node: string,
): readonly NodeAttachment[] {
  return entries.some((entry) => entry.node === node)
    ? entries.filter((entry) => entry.node !== node)
    : entries;
}

/**
 * Changes or adds the entry of a node and returns all entries, sorted by node. If the state is the
 * same, `since` stays. Only an Attached entry is safe to mount. Only an Attached or Detaching entry
 * has a device. A new message clears the reason of the old one.
 * @param now ms since the epoch
 */
export function change(
  entries: readonly NodeAttachment[],
  node: string,
  to: Partial<Omit<NodeAttachment, 'node' | 'since'>>,
  now: number,
): readonly NodeAttachment[] {
  const old = entries.find((entry) => entry.node === node);
  const changed = { ...NEW, ...old, ...('message' in to && { detail: undefined }), ...to };
  const { state } = changed;
  const isThere = state === 'Attached' || state === 'Detaching';
  const entry: NodeAttachment = {
    ...changed,
    node,
    safeToMount: changed.safeToMount && state === 'Attached',
    safeToDetach: changed.safeToDetach && isThere,
    device: isThere ? changed.device : undefined,
    since: old?.state === state ? old.since : now,
  };
  return [...withoutNode(entries, node), entry].sort(byNode);
}

const NEW: Omit<NodeAttachment, 'node' | 'since'> = {
  state: 'Uncertain',
  readOnly: false,
  safeToMount: false,
  safeToDetach: false,
  pods: [],
  device: undefined,
  message: undefined,
};

/**
 * Updates the pods of each entry: removes pods that are gone or terminated, adds pods that want the
 * volume on the node.
 * @param isPodActive reports whether a pod that no longer wants the volume still exists: its
 *   claim may be deleted first
 */
export function withPods(
  entries: readonly NodeAttachment[],
  wanted: readonly DesiredAttachment[],
  isPodActive: (pod: PodUse) => boolean,
): readonly NodeAttachment[] {
  const next = entries.map((entry) => {
    const wanting = wanted.find(({ node }) => node === entry.node)?.pods ?? [];
    const uids = new Set(wanting.map(({ uid }) => uid));
    const left = entry.pods.filter(
      (pod) => !uids.has(pod.uid) && pod.node === entry.node && isPodActive(pod),
    );
    const pods = [...wanting, ...left].sort(byPod);
    return isSame(pods, entry.pods) ? entry : { ...entry, pods };
  });
  return next.every((entry, at) => entry === entries[at]) ? entries : next;
}

const isSame = (some: readonly PodUse[], others: readonly PodUse[]): boolean =>
  some.length === others.length && some.every(({ uid }, at) => uid === others[at]?.uid);
