import { isReadOnlyShared } from '../../api/access-modes.ts';
import type { StorageClass } from '../../api/core.ts';
import type { Volume } from '../../api/volume.ts';
import { nodeOf } from '../../model/volume-nodes.ts';
import { maxWaitOf } from './max-wait.ts';
import type { DesiredAttachment, Managed, PodUse } from './types.ts';

/** Desired state of the world: which volumes are wanted on which nodes, by which pods. */

export interface Defaults {
  /** Value of the flag, in ms; Infinity: never. */
  maxWaitForUnmountMs: number;
  /** StorageClass of the Volume; undefined if it is deleted. */
  storageClass: StorageClass | undefined;
}

/** Returns the attachment-related fields of a Volume. */
export function managedOf(volume: Volume, defaults: Defaults): Managed {
  const { metadata, spec, status } = volume;
  const home = nodeOf(volume);
  return {
    uid: metadata.uid ?? '',
    name: metadata.name,
    policy: spec.attachPolicy ?? 'Always',
    home,
    nodes: sharedBy(volume) ?? [home],
    readOnly: isReadOnlyShared(spec),
    attachable: status?.prepared != null && metadata.deletionTimestamp === undefined,
    maxWaitForUnmountMs: maxWaitOf(defaults.storageClass, defaults.maxWaitForUnmountMs),
  };
}

/**
 * Returns the nodes that share the Volume's directory; undefined if the Volume is on one node only.
 */
export function sharedBy({ spec }: Volume): string[] | undefined {
  // The field can also be null.
  const several = spec.attachableNodes ?? [];
  return several.length === 0 ? undefined : [...new Set(several)];
}

export const isOnSeveral = (volume: Volume): boolean => (sharedBy(volume)?.length ?? 1) > 1;

/**
 * Returns the nodes that a volume is wanted on, sorted. Includes nodes that the volume may not be
 * attached to if a pod is there: the caller reports why the pod waits.
 * @param volume undefined if deleted: then only remaining pods want it
 */
export function wantedOf(
  volume: Managed | undefined,
  uses: readonly PodUse[],
): DesiredAttachment[] {
  const nodes = new Map<string, Map<string, PodUse>>();
  if (volume?.policy === 'Always' && volume.attachable) nodes.set(volume.home, new Map());
  for (const use of uses) {
    const pods = nodes.get(use.node) ?? new Map<string, PodUse>();
    nodes.set(use.node, pods.set(use.uid, use));
  }
  return [...nodes]
    .map(([node, pods]) => ({ node, pods: [...pods.values()].sort(byPod) }))
    .sort((a, b) => compare(a.node, b.node));
}

/** Compares strings independently of the locale. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const byPod = (a: PodUse, b: PodUse): number =>
  compare(a.pod, b.pod) || compare(a.uid, b.uid);
