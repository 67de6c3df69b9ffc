import { byNode } from './attached-nodes-annotation.ts';
import { byPod } from './desired-state.ts';
import type { DesiredAttachment, NodeAttachment, PodUse } from './types.ts';

/** The actual state of the world: volume → nodes → pods. Functions answer with the same list when nothing changes. */

/** Without the entry of a node. */
export function withoutNode(
  entries: readonly NodeAttachment[],
  node: string,
): readonly NodeAttachment[] {
  return entries.some((entry) => entry.node === node)
    ? entries.filter((entry) => entry.node !== node)
    : entries;
}

/**
 * With the entry of a node changed, or added; sorted by node. A state that it was in already leaves the time since when as it
 * was. What is not Attached is not safe to mount, and has a device while it is Attached or Detaching. A message has no reason but
 * its own.
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
 * With the pods that are gone or terminated taken from their entries, and those that want the volume where it is added.
 * @param isPodActive whether a pod that does not want it any more is there all the same: its claim may be gone before it
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
